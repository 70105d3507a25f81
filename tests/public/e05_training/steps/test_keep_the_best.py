"""The suite of keep_the_best."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def run(keep, weights, losses, epochs):
    """What is kept, where each epoch has the next of the weights and of the losses."""
    model, epoch = nn.Linear(weights.shape[1], 1, bias=False), iter(zip(weights, losses, strict=True))

    def train():
        weight, loss = next(epoch)
        model.weight.data.copy_(weight)
        return loss.item()

    return keep(model, train, epochs)


def draw(gen):
    cases = {}
    for epochs, best in [(3, 1), (5, 0), (8, 4), (4, 3)]:
        losses = 1 + torch.rand(epochs, generator=gen)
        losses[best] = 0.5
        weights = torch.randn(epochs, 3, generator=gen)
        cases[f"{epochs} epochs, the lowest loss in number {best + 1}"] = given(weights, losses, epochs)
    return cases


EXAMPLE = given(torch.tensor([[10.0], [20.0], [30.0], [40.0]]), torch.tensor([3.0, 2.0, 1.0, 2.5]), 4)

contract = Contract(
    "keep_the_best(model, train, epochs)",
    reference=lambda weights, losses, _: {"weight": weights[losses.argmin()][None]},
    example=(EXAMPLE, {"weight": torch.tensor([[30.0]])}),
    inputs=draw,
    suspects={
        "these are the last epoch's weights: keep a deep copy, where the loss is the lowest so far": (
            lambda weights, losses, _: {"weight": weights[-1:]}
        ),
        "these are the weights of the epoch with the highest loss": (
            lambda weights, losses, _: {"weight": weights[losses.argmax()][None]}
        ),
        "the loss belongs to the weights after train(), and these are the weights before it": (
            lambda weights, losses, _: {"weight": weights[losses.argmin() - 1][None]}
        ),
    },
    use=lambda answer, *given: run(answer.keep_the_best, *given),
)
