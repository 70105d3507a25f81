"""The suite of no_if_on_a_tensor."""

import torch

from grader.checks.compile.graphs import expect_compiles
from grader.checks.contract import Contract

contract = Contract(
    "no_if_on_a_tensor(x)",
    reference=lambda x: x if x.sum() > 0 else -x,
    example=[([1.0, 2.0], [1.0, 2.0]), ([1.0, -3.0], [-1.0, 3.0])],
    inputs=lambda gen: {
        "with a sum above 0": torch.randn(4, generator=gen) + 3,
        "with a sum below 0": torch.randn(5, generator=gen) - 3,
        "near 0": torch.randn(7, generator=gen),
    },
    suspects={
        "each number is looked at by itself: the condition is the sum's": lambda x: x.abs(),
        "the two results are exchanged": lambda x: -x if x.sum() > 0 else x,
    },
)


def test_one_graph(answer):
    """It compiles in one graph: Python asks for no number of a tensor."""
    batches = [(torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, -3.0]),)]
    expect_compiles(answer.no_if_on_a_tensor, batches, "no_if_on_a_tensor(x)")
