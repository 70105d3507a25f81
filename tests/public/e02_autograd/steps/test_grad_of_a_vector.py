"""The suite of grad_of_a_vector."""

import torch

from grader.checks.contract import Contract, given

SIZES = (2, 4, 7)


def without_weights(x, weights):
    (x.requires_grad_() ** 2).backward()


def one_graph(x, weights):
    y = x.requires_grad_() ** 2
    for _ in range(2):
        y.backward(weights)


contract = Contract(
    "grad_of_a_vector(x, weights)",
    reference=lambda x, weights: 2 * (2 * x * weights,),
    example=(
        given(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])),
        2 * (torch.tensor([2.0, 40.0]),),
    ),
    inputs=lambda gen: [(torch.randn(n, generator=gen), torch.randn(n, generator=gen)) for n in SIZES],
    suspects={
        "backward from a vector needs the weights, and so does torch.autograd.grad": without_weights,
        "the first backward threw the graph away: compute y anew": one_graph,
        "the weights are left out": lambda x, weights: 2 * (2 * x,),
        "backward returns nothing: its gradient is in x.grad": lambda x, weights: (None, None),
        "the second has been added to the first": lambda x, weights: 2 * (4 * x * weights,),
    },
)
