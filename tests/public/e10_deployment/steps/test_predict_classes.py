"""The suite of predict_classes."""

import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def run(predict, weight, x):
    """The classes that a linear layer behind a dropout tells, and whether it ran in inference mode."""
    layer = nn.Linear(*weight.shape[::-1], bias=False)
    layer.weight = nn.Parameter(weight.clone())
    model, training, inference = nn.Sequential(nn.Dropout(0.5), layer).train(), [], []
    model.register_forward_hook(lambda *_: training.append(model.training))
    model.register_forward_hook(lambda *_: inference.append(torch.is_inference_mode_enabled()))
    classes = predict(model, x)
    expect_that(not any(training), "the dropout is on while the model runs: model.eval() comes first")
    return classes, all(inference)


def draw(gen):
    sizes = [(9, 2), (5, 3), (3, 8), (20, 20)]
    return {
        f"{rows} rows, {classes} classes": given(
            torch.randn(classes, 4, generator=gen), torch.randn(rows, 4, generator=gen)
        )
        for rows, classes in sizes
    }


contract = Contract(
    "predict_classes(model, x)",
    reference=lambda weight, x: (x @ weight.T).argmax(1),
    example=(given(torch.eye(2), torch.tensor([[2.0, 1.0], [0.0, 3.0], [4.0, 1.0]])), [0, 1, 0]),
    inputs=draw,
    suspects={
        "the largest number of each column is taken: the classes lie along dim=1": (
            lambda weight, x: (x @ weight.T).argmax(0)
        ),
        "these are the logits: argmax tells the place of the largest": lambda weight, x: x @ weight.T,
        "these are the largest logits: argmax tells their places": lambda weight, x: (x @ weight.T).amax(1),
    },
    use=lambda answer, *given: run(answer.predict_classes, *given)[0],
)


def test_inference_mode(answer):
    """The model runs in inference mode."""
    _, inference = run(answer.predict_classes, torch.eye(2), torch.ones(3, 2))
    expect_that(inference, "not in inference mode: call the model inside of `with torch.inference_mode():`")
