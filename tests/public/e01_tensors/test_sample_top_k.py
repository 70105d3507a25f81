"""The contract of sample_top_k."""

import torch

from grader.checks import expect_equal, expect_that


def logits():
    return torch.tensor([[0.0, 9.0, 8.0, 1.0], [5.0, 0.0, 0.0, 5.0]])


def test_ids_of_the_example(answer, gen):
    """Draws from the worked example are ids of the two largest logits of each row, as int64."""
    call = "sample_top_k(logits, 2, generator)"
    for _ in range(8):
        ids = answer.sample_top_k(logits(), 2, gen)
        expect_equal(ids.shape, torch.Size([2]), f"the shape of {call}")
        expect_equal(ids.dtype, torch.int64, f"the dtype of {call}")
        inside = ids[0] in (1, 2) and ids[1] in (0, 3)
        told = f"{call} drew an id that is not among the two largest of its row"
        expect_that(inside, told, yours=ids.tolist(), wanted="1 or 2, then 0 or 3")


def test_one_is_greedy(answer, gen):
    """With k = 1 the largest logit always wins."""
    ids = answer.sample_top_k(logits()[:1], 1, gen)
    expect_equal(ids, torch.tensor([1]), "sample_top_k(logits[:1], 1, generator)")
