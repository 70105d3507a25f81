"""The suite of names_to_numbers."""

import torch

from grader.checks.contract import Contract, given

NAMES = ["pear", "fig", "apple", "kiwi", "lime", "plum", "date"]


def numbered(names, classes):
    return torch.tensor([classes.index(name) for name in names])


def draw(gen):
    found = {}
    for about, count in [("three fruits", 3), ("five fruits", 5), ("seven fruits", 7)]:
        places = torch.randperm(7, generator=gen)[torch.randint(count, (12,), generator=gen)]
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
        "these are places among all names: list every name once": lambda names: numbered(
            names, sorted(names)
        ),
        "these are places among all names: list every name once, in alphabetical order": (
            lambda names: numbered(names, names)
        ),
    },
)
