"""What grades find_bad_id: which id, which lookup, positions; devices, the model as it was, other errors."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, hooks_of, unchanged

CALL = "find_bad_id(model, ids)"
GIVEN = "the ids are the inputs of the model: this lookup was given others"


class Reader(nn.Module):
    """Tokens and positions, which are looked up in another order than they are defined."""

    def __init__(self, vocab, longest):
        super().__init__()
        self.position, self.token = nn.Embedding(longest, 3), nn.Embedding(vocab, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1], device=ids.device))
        return self.norm(x.mT).mean()


def good(gen, vocab, *shape):
    return torch.randint(vocab, shape, generator=gen)


def spoiled(gen, vocab, bad, *shape):
    """Ids in range, but for the bad ones, which come in this order; and the place of the first."""
    ids = good(gen, vocab, *shape)
    flat = torch.randperm(ids.numel(), generator=gen)[: len(bad)].sort().values
    ids.view(-1)[flat] = torch.tensor(bad)
    return ids, tuple(int(n) for n in torch.unravel_index(flat[0], shape))


def expect_found(answer, model, ids, wanted, case, mistakes=None):
    """`mistakes` tells, for what else may come back, what has gone wrong."""
    mistakes = {"nothing is found": None, **(mistakes or {})}
    suspects = {
        told: lambda made=made: None if made is None else answer.BadId(*made)
        for told, made in mistakes.items()
    }
    yours = answer.find_bad_id(model, ids)
    expect_equal(
        yours, None if wanted is None else answer.BadId(*wanted), f"{CALL} with {case}", suspects=suspects
    )


def test_first_of_several(answer, gen):
    """Of several wrong ids the first one in row-major order is told."""
    ids, place = spoiled(gen, 20, [23, 90, 41], 4, 5)
    last = tuple((ids == 41).nonzero()[0].tolist())
    largest = tuple((ids == 90).nonzero()[0].tolist())
    mistakes = {
        "the last wrong id is told": ("token", 41, last),
        "the largest id is told, and not the first": ("token", 90, largest),
        "the place is counted in the flat ids": ("token", 23, (place[0] * 5 + place[1],)),
    }
    expect_found(answer, Reader(20, 100), ids, ("token", 23, place), "three wrong ids", mistakes)


def test_borders(answer, gen):
    """num_embeddings itself is out of range, and so is -1."""
    for bad in (20, -1, -100):
        ids, place = spoiled(gen, 20, [bad], 3, 4)
        given = {GIVEN: ("position", bad, place)}
        expect_found(answer, Reader(20, 100), ids, ("token", bad, place), f"the id {bad} for 20 rows", given)


def test_good_ids(answer, gen):
    """Where all ids are in range, None comes back."""
    expect_found(
        answer, Reader(6, 100), torch.tensor([[0, 5, 3], [5, 0, 1]]), None, "ids from 0 to 5 for 6 rows"
    )


def test_positions(answer, gen):
    """Ids that the model makes itself are found: a sequence longer than the table of positions."""
    ids = good(gen, 20, 2, 6).clamp(min=1)
    ids[1, 3] = 15
    place = tuple((ids >= 4).nonzero()[0].tolist())
    given = {GIVEN: ("position", int(ids[place]), place)}
    expect_found(answer, Reader(20, 4), ids, ("position", 4, (4,)), "6 tokens for 4 positions", given)


def test_order_of_calls(answer, gen):
    """Of two lookups that go wrong, the first one called is told."""
    ids, place = spoiled(gen, 9, [12], 2, 6)
    defined = {"this lookup comes later": ("position", 4, (4,))}
    expect_found(answer, Reader(9, 4), ids, ("token", 12, place), "a wrong id and too many tokens", defined)


def test_names(answer, gen):
    """The name is the whole path to the module."""
    model = nn.Sequential(nn.Identity(), nn.ModuleDict({"words": nn.Embedding(7, 2)})["words"])
    model = nn.Sequential(model, nn.Tanh())
    ids, place = spoiled(gen, 7, [8], 5)
    last = {"this is the last part of the name": ("1", 8, place)}
    expect_found(answer, model, ids, ("0.1", 8, place), "an embedding within a part", last)


@pytest.mark.fine
def test_single_id(answer):
    """A single id has the place ()."""
    model = nn.Sequential(nn.Embedding(4, 2), nn.Tanh())
    expect_found(answer, model, torch.tensor(5), ("0", 5, ()), "a single id")


@pytest.mark.fine
def test_other_device(answer, gen, device):
    """A model on another device stays there, and the lookup is found on the CPU."""
    model = Reader(20, 100).to(device)
    ids, place = spoiled(gen, 20, [33], 3, 4)
    expect_found(answer, model, ids.to(device), ("token", 33, place), "a model on another device")
    there = {p.device.type for p in model.parameters()}
    expect_equal(there, {torch.device(device).type}, f"the devices of the parameters after {CALL}")


@pytest.mark.fine
def test_model_is_left_alone(answer, gen):
    """Hooks, mode and running statistics of the model stay."""
    for ids in (good(gen, 20, 3, 4), spoiled(gen, 20, [33], 3, 4)[0]):
        model = Reader(20, 100)
        with unchanged(CALL, running_mean=model.norm.running_mean, weight=model.token.weight):
            answer.find_bad_id(model, ids)
        expect_that(model.training, f"{CALL} leaves the model in evaluation mode")
        left = [hook for module in model.modules() for hook in hooks_of(module)]
        expect_that(not left, f"{CALL} leaves hooks in the model", left=len(left))


@pytest.mark.fine
def test_other_errors(answer, gen):
    """An IndexError that no embedding is to blame for comes out."""

    class Chooses(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, 2)

        def forward(self, ids):
            return self.table(ids)[:, torch.tensor([7])]

    expect_raises(
        IndexError, lambda: answer.find_bad_id(Chooses(), good(gen, 9, 4)), f"{CALL} where the model indexes"
    )


def oracle(answer, gen):
    def found(model, *cases):
        results = [answer.find_bad_id(model, ids) for ids in cases]
        return [None if r is None else [r.layer, int(r.id), [int(n) for n in r.place]] for r in results]

    def several(count):
        drawn = torch.randint(50, 2**31, (6, count), generator=gen).tolist()
        return [spoiled(gen, 50, bad, 5, 7)[0] for bad in drawn]

    one, three = several(1), several(3)
    return {
        "one wrong id": lambda: found(Reader(50, 100), *one),
        "three wrong ids": lambda: found(Reader(50, 100), *three),
        "too many tokens": lambda: found(Reader(50, 6), good(gen, 50, 2, 9), *one[:2]),
    }
