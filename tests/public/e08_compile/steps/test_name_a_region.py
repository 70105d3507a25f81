"""The suite of name_a_region."""

import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, given


class Sum:
    """Adds up the numbers of x when it is called."""

    def __init__(self, x):
        self.x = x

    def __call__(self):
        return self.x.sum()


contract = Contract(
    "name_a_region(name, fn)",
    reference=lambda name, fn: fn(),
    example=(given("loss", lambda: torch.ones(2).sum()), torch.tensor(2.0)),
    inputs=lambda gen: {
        f"with the name {name!r}": given(name, Sum(torch.rand(4, generator=gen)))
        for name in ("loss", "attention", "step 3")
    },
)


def regions(answer, name):
    """Which operations ran inside the region of that name; None where it is not in the profile."""
    x = torch.ones(2)
    with torch.profiler.profile() as profile:
        answer.name_a_region(name, lambda: x.sin())
    return next(([part.name for part in e.cpu_children] for e in profile.events() if e.name == name), None)


def test_region(answer):
    """The profile has an entry of that name, in which fn runs."""
    for name in ("loss", "attention"):
        inside = regions(answer, name)
        call = f"name_a_region({name!r}, fn)"
        expect_that(inside is not None, f"the profile has no entry {name!r} after {call}")
        what = f"fn() does not run inside the region: call it within the `with` block of {call}"
        expect_that("aten::sin" in inside, what, yours=str(inside), wanted="the operations of fn()")
