"""The suite of freeze_the_body."""

import copy

import torch
from torch import nn

from grader.checks.contract import Contract, given

EXAMPLE = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 5)})


def trained(model):
    """For each parameter its name, and how many of its numbers are trained."""
    return {name: p.numel() if p.requires_grad else 0 for name, p in model.named_parameters()}


def after(freeze):
    def called(model):
        model = copy.deepcopy(model)
        freeze(model)
        return trained(model)

    return called


def models(gen):
    a, b, c = torch.randint(2, 10, (3,), generator=gen).tolist()
    deep = nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c))
    parts = {
        "stem": nn.Linear(a, a),
        "body": nn.Linear(a, b),
        "neck": nn.Linear(b, c),
        "head": nn.Linear(c, 5),
    }
    return {
        "body and head": given(nn.ModuleDict({"body": nn.Linear(a, b), "head": nn.Linear(b, c)})),
        "several layers in each": given(nn.ModuleDict({"body": deep, "head": copy.deepcopy(deep)})),
        "parts of other names": given(nn.ModuleDict(parts)),
    }


contract = Contract(
    "freeze_the_body(model)",
    reference=after(lambda model: (model.requires_grad_(False), model.head.requires_grad_(True))),
    example=(given(EXAMPLE), {"body.weight": 0, "body.bias": 0, "head.weight": 20, "head.bias": 5}),
    inputs=models,
    use=lambda answer, model: after(answer.freeze_the_body)(model),
    suspects={
        "only model.body is frozen: freeze what has other names, too": after(
            lambda model: model.body.requires_grad_(False)
        ),
        "the head is frozen as well: it is to be trained": after(lambda model: model.requires_grad_(False)),
        "model.body is still trained": trained,
    },
)
