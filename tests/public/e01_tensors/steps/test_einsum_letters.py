"""The suite of einsum_letters."""

import torch

from grader.checks.contract import Contract


def drawn(*sizes):
    return lambda gen: [tuple(torch.rand(size, generator=gen) for size in call) for call in sizes]


def by(letters):
    return lambda *tensors: torch.einsum(letters, *tensors)


swapped = Contract(
    "swapped(x)",
    reference=lambda x: torch.stack(x.unbind(1)),
    example=([[1, 2, 3]], [[1], [2], [3]]),
    inputs=drawn([(2, 3)], [(3, 3)]),
    suspects={"behind `->` the letters have the same order as before it": lambda x: x},
)
product = Contract(
    "product(a, b)",
    reference=lambda a, b: a @ b,
    example=(([[1, 2]], [[3], [4]]), [[11]]),
    inputs=drawn([(2, 3), (3, 4)], [(3, 3), (3, 3)]),
    suspects={
        "all letters come out, and nothing is added up": by("ij,jk->ijk"),
        "number by number: both tensors have the same two letters": by("ij,ij->ij"),
        "the shared letter stands at the end of b: b is transposed": by("ij,kj->ik"),
    },
)
outer = Contract(
    "outer(u, v)",
    reference=lambda u, v: torch.stack([number * v for number in u]),
    example=(([1, 2], [3, 4]), [[3, 4], [6, 8]]),
    inputs=drawn([3, 4], [3, 3]),
    suspects={
        "one letter for both: they are multiplied number by number": by("i,i->i"),
        "the letters of the result are the other way round": by("i,j->ji"),
    },
)
