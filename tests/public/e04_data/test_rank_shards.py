"""The contract of rank_shards."""

import random

import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    for rank, drop_last, wanted in [
        (0, False, [0, 2, 4]),
        (1, False, [1, 3, 0]),
        (0, True, [0, 2]),
        (1, True, [1, 3]),
    ]:
        sampler = answer.ShardSampler(5, ranks=2, rank=rank, shuffle=False, drop_last=drop_last)
        call = f"list(ShardSampler(5, ranks=2, rank={rank}, shuffle=False, drop_last={drop_last}))"
        expect_equal([int(index) for index in sampler], wanted, call)


def test_shuffled(answer):
    """With shuffle, the order is that of a generator with the seed seed + epoch."""
    sampler = answer.ShardSampler(6, ranks=2, rank=1, seed=7)
    for epoch in (0, 3):
        sampler.set_epoch(epoch)
        order = torch.randperm(6, generator=torch.Generator().manual_seed(7 + epoch)).tolist()
        shuffled = [*range(6)]
        random.Random(7 + epoch).shuffle(shuffled)
        mistakes = {"Python's random has shuffled: torch.randperm is to": lambda s=shuffled: s[1::2]}
        if epoch:
            mistakes["the epoch has no say in the order: add it to the seed"] = lambda: [1, 4, 5]
        yours, call = [int(i) for i in sampler], f"list(sampler) in epoch {epoch}"
        expect_equal(yours, order[1::2], call, suspects=mistakes)
