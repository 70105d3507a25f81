"""The suite of names_in_the_profile."""

import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, given

OPERATIONS = ("sin", "cos", "tan", "exp", "neg", "tanh", "erf", "sigmoid", "floor", "sqrt", "log1p", "round")


class Chain:
    """Applies some operations, one after the other, when it is called."""

    def __init__(self, *names):
        self.names = names

    def __call__(self):
        x = ONES
        for name in self.names:
            x = getattr(torch, name)(x)
        return x


ONES = torch.ones(3)


def drawn(gen, count):
    return given(Chain(*(OPERATIONS[n] for n in torch.randperm(12, generator=gen)[:count])))


def names(answer, fn):
    """The names in a line. What an accelerator adds of its own is left out."""
    found = answer.names_in_the_profile(fn)
    entries = isinstance(found, (set, list)) and any(hasattr(entry, "key") for entry in found)
    told = "names_in_the_profile(fn) returns entries of the profile: the name of each is its `.key`"
    expect_that(not entries, told)
    if not isinstance(found, (set, list, frozenset)) or not all(isinstance(name, str) for name in found):
        return found
    return ", ".join(sorted({name for name in found if name.startswith("aten::")}))


def wanted(fn):
    return ", ".join(sorted(f"aten::{name}" for name in fn.names))


contract = Contract(
    "names_in_the_profile(fn)",
    reference=wanted,
    use=names,
    example=(given(lambda: ONES.sin() + ONES.cos()), "aten::add, aten::cos, aten::sin"),
    inputs=lambda gen: {f"of {count} operations": drawn(gen, count) for count in (2, 3, 4, 5)},
    suspects={
        "the profile is empty: fn() has to run inside the `with` block": lambda fn: "",
        "this is the first name alone: each entry has one": lambda fn: (
            f"aten::{getattr(fn, 'names', ['sin'])[0]}"
        ),
    },
)
