"""The suite of same_answer_twice."""

import copy

import torch
from torch import nn

from grader.checks.contract import Contract, given

SAME, MODE = "the same in two calls", "model.training afterwards"


def use(answer, model, x):
    model = copy.deepcopy(model).train()
    torch.manual_seed(0)
    first, second = answer.same_answer_twice(model, x), answer.same_answer_twice(model, x)
    every = {layer.training for layer in model.modules()}
    return {SAME: torch.equal(first, second), "the predictions": first, MODE: every == {True}}


def predictions(model, x, same=True, mode=True):
    y = copy.deepcopy(model).to(x.dtype).eval()(x).detach()
    return {SAME: same, "the predictions": y, MODE: mode}


def calls(gen):
    sizes = [(4, 5, 3), (6, 10, 1), (2, 7, 7)]
    found = {}
    for rows, features, outputs in sizes:
        model = nn.Sequential(nn.Linear(features, 16), nn.Dropout(0.5), nn.Linear(16, outputs))
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=gen))
        found[f"{rows} rows"] = given(model, torch.randn(rows, features, generator=gen))
    return found


contract = Contract(
    "same_answer_twice(model, x)",
    reference=predictions,
    inputs=calls,
    use=use,
    suspects={
        "dropout was on: call model.eval() before the predictions": lambda model, x: predictions(
            model, x, same=False
        ),
        "the model was left in evaluation mode: model.train()": lambda model, x: predictions(
            model, x, mode=False
        ),
    },
)
