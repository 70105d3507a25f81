"""The suite of layers_in_a_row."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def run(model, features):
    """What the model gives where all tensors of one size hold the same numbers."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())))
        return {"model(x)": model(torch.linspace(-1, 1, 3 * features).view(3, features))}


def row(*layers):
    return lambda features, classes: run(
        nn.Sequential(nn.Linear(features, 30), *layers, nn.Linear(20, classes)), features
    )


def ended(end):
    plain = row(nn.ReLU(), nn.Linear(30, 20), nn.ReLU())
    return lambda features, classes: {"model(x)": end(plain(features, classes)["model(x)"])}


def sizes(gen):
    few = torch.randint(2, 6, (3, 2), generator=gen).tolist()
    return {
        f"{name} features": given(n + features, classes)
        for name, n, (features, classes) in zip(["few", "some", "many"], [0, 4, 8], few, strict=True)
    }


contract = Contract(
    "layers_in_a_row(features, classes)",
    reference=row(nn.ReLU(), nn.Linear(30, 20), nn.ReLU()),
    example=(given(4, 3), row(nn.ReLU(), nn.Linear(30, 20), nn.ReLU())(4, 3)),
    inputs=sizes,
    use=lambda answer, features, classes: run(answer.layers_in_a_row(features, classes), features),
    suspects={
        "there is no ReLU between the linear layers": row(nn.Linear(30, 20)),
        "the second ReLU is missing": row(nn.ReLU(), nn.Linear(30, 20)),
        "the first ReLU is missing": row(nn.Linear(30, 20), nn.ReLU()),
        "a softmax comes last: the logits are wanted as they are": ended(lambda y: y.softmax(1)),
        "a ReLU comes last: the logits are wanted as they are": ended(torch.relu),
    },
)
