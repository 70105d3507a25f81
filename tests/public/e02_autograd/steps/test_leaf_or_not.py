"""The suite of leaf_or_not."""

import torch

from grader.checks import expect_equal, expect_that


def kinds(gen):
    """Tensors, and what is true of each."""
    w, plain = torch.randn(3, generator=gen, requires_grad=True), torch.randn(3, generator=gen)
    return [
        ("w * 3, and w requires a gradient", w * 3, (True, False, True)),
        ("w, which requires a gradient", w, (True, True, False)),
        ("plain numbers", plain, (False, True, False)),
        ("plain numbers * 3", plain * 3, (False, True, False)),
        ("(plain numbers * w).sum()", (plain * w).sum(), (True, False, True)),
        ("w[0]", w[0], (True, False, True)),
    ]


def test_kinds(answer, gen):
    """The three bools are right for tensors that were made in several ways."""
    for about, x, wanted in kinds(gen):
        yours = answer.leaf_or_not(x)
        last = yours[-1] if isinstance(yours, tuple) and yours else None
        itself = last is not None and last is x.grad_fn
        expect_that(not itself, "the last of the three is grad_fn: return whether there is one", yours=last)
        suspects = {
            "what requires no gradient is a leaf, too: x.is_leaf": lambda w=wanted: (
                w[0],
                w[0] and w[1],
                w[2],
            ),
            "the last of the three is whether x.grad_fn is there": lambda w=wanted: (*w[:2], not w[2]),
        }
        expect_equal(yours, wanted, f"leaf_or_not(x), where x is {about}", suspects=suspects)


def test_no_operation(answer):
    """What is computed from plain numbers is a leaf too, as nothing of it is recorded."""
    x = torch.ones(2) * 3
    expect_equal(answer.leaf_or_not(x)[1], True, "whether torch.ones(2) * 3 is a leaf")


def oracle(answer, gen):
    cases = {}
    for case in ("some tensors", "other tensors", "more tensors"):
        found = [kinds(gen)[place][1] for place in torch.randint(6, (8,), generator=gen).tolist()]
        cases[case] = [str([bool(flag) for flag in answer.leaf_or_not(x)]) for x in found]
    return cases
