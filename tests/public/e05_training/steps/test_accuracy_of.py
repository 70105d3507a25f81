"""The suite of accuracy_of."""

from functools import partial

import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def network(weight):
    """A linear layer behind a dropout that lets nothing through while it is on."""
    layer = nn.Linear(*weight.shape[::-1], bias=False)
    layer.weight = nn.Parameter(weight.clone())
    return nn.Sequential(nn.Dropout(1.0), layer).train()


def share(weight, x, labels, dropout=0.0, dim=1, divide=True):
    classes = (x * (1 - dropout) @ weight.T).argmax(dim)
    right = (classes == labels).double()
    return (right.mean() if divide else right.sum()).item()


def draw(gen):
    cases = {}
    for rows, classes in [(7, 2), (11, 3), (40, 5)]:
        weight, x = torch.randn(classes, 4, generator=gen), torch.randn(rows, 4, generator=gen)
        labels = (x @ weight.T + 2 * torch.randn(rows, classes, generator=gen)).argmax(1)
        cases[f"{rows} rows, {classes} classes"] = given(weight, x, labels)
    return cases


contract = Contract(
    "accuracy_of(model, x, labels)",
    reference=share,
    example=(
        given(torch.eye(2), torch.tensor([[2.0, 1.0], [0.0, 3.0], [4.0, 1.0]]), torch.tensor([0, 1, 1])),
        2 / 3,
    ),
    inputs=draw,
    suspects={
        "the dropout is on while the model runs: model.eval() comes first": partial(share, dropout=1.0),
        "this is how many are right: divide by the number of rows": partial(share, divide=False),
    },
    use=lambda answer, weight, x, labels: answer.accuracy_of(network(weight), x, labels),
)


def test_no_graph(answer):
    """The model runs without recording a graph."""
    model, recorded = network(torch.eye(2)), []
    model.register_forward_hook(lambda _model, _inputs, logits: recorded.append(logits.requires_grad))
    answer.accuracy_of(model, torch.ones(3, 2), torch.tensor([0, 1, 1]))
    expect_that(not any(recorded), "a graph is recorded: call the model inside of `with torch.no_grad():`")
