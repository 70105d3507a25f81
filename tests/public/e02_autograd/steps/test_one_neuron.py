"""The suite of one_neuron."""

import torch

from grader.checks.contract import Contract, given

RESULTS = tuple(torch.tensor(value) for value in (0.0851879, -0.0898263, -0.0816603))


def numbers(*values):
    return given(*(torch.tensor(value) for value in values))


def by_hand(x, y, w, b):
    a = torch.sigmoid(x * w + b)
    return -(y * a.log() + (1 - y) * (1 - a).log()), (a - y) * x, a - y


def swapped(x, y, w, b):
    loss, dw, db = by_hand(x, y, w, b)
    return loss, db, dw


def draw(gen):
    labels = {"spam": 1.0, "no spam": 0.0, "a label between 0 and 1": 0.3}
    drawn = torch.randn(3, 3, generator=gen).tolist()
    return {about: numbers(x, y, w, b) for (about, y), (x, w, b) in zip(labels.items(), drawn, strict=True)}


contract = Contract(
    "one_neuron(x, y, w, b)",
    reference=by_hand,
    example=(numbers(1.1, 1.0, 2.2, 0.0), RESULTS),
    inputs=draw,
    ulps=256,
    suspects={
        "no gradient: w and b both need requires_grad_(), before z is computed": lambda *given: 3 * (None,),
        "the sign: the loss begins with a minus": lambda *given: tuple(-value for value in by_hand(*given)),
        "the label is left out": lambda x, y, w, b: by_hand(x, torch.ones_like(y), w, b),
        "the gradients are the wrong way round: that for w comes first": swapped,
    },
)
