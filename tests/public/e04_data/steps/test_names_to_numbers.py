"""The suite of names_to_numbers."""

import torch

from grader.checks.contract import Contract, given

NAMES = ["pear", "fig", "apple", "kiwi", "lime", "plum", "date"]


def numbered(names, classes):
    return torch.tensor([classes.index(name) for name in names])


def draw(gen):
    found = {}
    for about, count in [("three fruits", 3), ("five fruits", 5), ("seven fruits", 7)]:
        drawn = torch.randint(count, (12,), generator=gen)
        drawn[1] = drawn[0]  # so that places among all names are not those among the names that have come
        places = torch.randperm(7, generator=gen)[drawn]
        found[about] = given([NAMES[place] for place in places.tolist()])
    return found


contract = Contract(
    "names_to_numbers(names)",
    reference=lambda names: numbered(names, sorted(set(names))),
    example=(given(["dog", "cat", "dog", "ant"]), [2, 1, 2, 0]),
    inputs=draw,
    suspects={
        "the numbers start at 1: classes are counted from 0": lambda names: (
            numbered(names, sorted(set(names))) + 1
        ),
        "the classes are numbered as they come, not in alphabetical order": (
            lambda names: numbered(names, list(dict.fromkeys(names)))
        ),
        "each name got its last place among all names: list every name once, and sort them": lambda names: (
            numbered(names, names[::-1]).neg() + len(names) - 1
        ),
        "these are places among all names: list every name once": lambda names: numbered(
            names, sorted(names)
        ),
        "these are places among all names: list every name once, in alphabetical order": (
            lambda names: numbered(names, names)
        ),
    },
)
