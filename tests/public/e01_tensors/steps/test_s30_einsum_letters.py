"""The suite of einsum_letters."""

import torch

from grader.checks.contract import Contract


def drawn(*sizes):
    return lambda gen: [tuple(torch.rand(size, generator=gen) for size in call) for call in sizes]


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
        "all letters come out, and nothing is added up": lambda a, b: torch.einsum("ij,jk->ijk", a, b),
        "number by number: both tensors have the same two letters": lambda a, b: torch.einsum(
            "ij,ij->ij", a, b
        ),
        "the shared letter stands at the end of b: b is transposed": lambda a, b: torch.einsum(
            "ij,kj->ik", a, b
        ),
    },
)
outer = Contract(
    "outer(u, v)",
    reference=lambda u, v: torch.stack([number * v for number in u]),
    example=(([1, 2], [3, 4]), [[3, 4], [6, 8]]),
    inputs=drawn([3, 4], [3, 3]),
    suspects={
        "one letter for both: they are multiplied number by number": lambda u, v: torch.einsum(
            "i,i->i", u, v
        ),
        "the letters of the result are the other way round": lambda u, v: torch.einsum("i,j->ji", u, v),
    },
)
