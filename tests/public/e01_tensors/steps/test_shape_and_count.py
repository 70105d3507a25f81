"""The suite of shape_and_count."""

import torch

from grader.checks.contract import Contract


def of_ranks(gen):
    sizes = torch.randint(2, 20, (4,), generator=gen).tolist()
    return {f"{n} dims" if n > 1 else "1 dim": torch.zeros(sizes[:n]) for n in (2, 3, 4, 1)}


def plain(answer, x):
    """The three, and the shape as a tuple: a list of sizes is as good."""
    found = answer.shape_and_count(x)
    return (tuple(found[0]), *found[1:]) if type(found) is tuple and type(found[0]) is list else found


contract = Contract(
    "shape_and_count(x)",
    reference=lambda x: (x.shape, x.ndim, x.numel()),
    use=plain,
    example=([[3, 4, 0], [1, 5, 9]], (torch.Size([2, 3]), 2, 6)),
    inputs=of_ranks,
    suspects={
        "only two of the sizes are multiplied": lambda x: (x.shape, x.ndim, x.shape[0] * x.shape[1]),
        "len(x) counts the rows only": lambda x: (x.shape, len(x), len(x)),
        "that is how many numbers there are, and not how many dims": lambda x: (x.shape, x.numel(), x.ndim),
    },
)
