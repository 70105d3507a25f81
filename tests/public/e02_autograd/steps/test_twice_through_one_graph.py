"""The suite of twice_through_one_graph."""

import torch

from grader.checks.contract import Contract, given

RESULTS = (torch.tensor([1.0, 2.7182818]), torch.tensor([2.0, 14.7781122]))


def graph_is_gone(x):
    y = torch.exp(x.requires_grad_())
    for _ in range(2):
        (y**2).sum().backward()


contract = Contract(
    "twice_through_one_graph(x)",
    reference=lambda x: (x.exp(), 2 * (2 * x).exp()),
    example=(given(torch.tensor([0.0, 1.0])), RESULTS),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in (2, 5, 8)],
    suspects={
        "both are the second gradient: each has a backward of its own": lambda x: (2 * (2 * x).exp(),) * 2,
        "the first backward threw the graph away: it is the one to be told to retain it": graph_is_gone,
        "the two gradients were added up: x.grad was not cleared between them": lambda x: (
            2 * (x.exp() + 2 * (2 * x).exp(),)
        ),
    },
)
