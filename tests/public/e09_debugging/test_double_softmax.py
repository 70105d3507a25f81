"""The worked example of training_loss and predict, and a TicketModel that is certain."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_number
from grader.checks.contract import Contract, given

SCORES = torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([1.0])
CROSS, BINARY = F.cross_entropy, F.binary_cross_entropy_with_logits


class Fixed(nn.Module):
    """A model that gives the scores of the example."""

    def forward(self, x):
        return SCORES


def with_losses(topics=torch.clone, urgency=torch.clone, cross=CROSS, binary=BINARY):
    """The loss where scores are changed before the losses see them, or with other losses."""
    return lambda model, x, topic, urgent: (
        cross(topics(SCORES[0]), topic) + binary(urgency(SCORES[1]), urgent.float())
    )


training_loss = Contract(
    "training_loss(model, x, topic, urgent)",
    example=(
        given(Fixed(), torch.zeros(1, 2), torch.tensor([0]), torch.tensor([1.0])),
        torch.tensor(0.552804),
    ),
    suspects={
        "softmax and sigmoid come twice: these losses apply them": with_losses(
            lambda s: s.softmax(1), torch.sigmoid
        ),
        "softmax comes twice: cross_entropy applies it, and takes raw scores": with_losses(
            lambda s: s.softmax(1)
        ),
        "sigmoid comes twice: binary_cross_entropy_with_logits applies it, and takes raw scores": with_losses(
            urgency=torch.sigmoid
        ),
        "nll_loss takes log-probabilities, and these are raw scores": with_losses(cross=F.nll_loss),
        "the loss takes the logarithm of what the model gives: these are raw scores": with_losses(
            torch.log, cross=F.nll_loss
        ),
        "binary_cross_entropy takes a probability, and this is a raw score": with_losses(
            binary=F.binary_cross_entropy
        ),
    },
)


def probabilities(topics=lambda s, t: (s / t).softmax(1), urgency=lambda s, t: (s / t).sigmoid()):
    return lambda model, x, temperature=1.0: (topics(SCORES[0], temperature), urgency(SCORES[1], temperature))


predict = Contract(
    "predict(model, x, temperature)",
    example=[
        (
            given(Fixed(), torch.zeros(1, 2)),
            (torch.tensor([[0.786986, 0.106507, 0.106507]]), torch.tensor([0.731059])),
        ),
        (
            given(Fixed(), torch.zeros(1, 2), temperature=2.0),
            (torch.tensor([[0.576117, 0.211942, 0.211942]]), torch.tensor([0.622459])),
        ),
    ],
    suspects={
        "softmax or sigmoid comes twice": probabilities(
            lambda s, t: (s / t).softmax(1).softmax(1), lambda s, t: (s / t).sigmoid().sigmoid()
        ),
        "these are raw scores: softmax or sigmoid is missing": probabilities(
            lambda s, t: s / t, lambda s, t: s / t
        ),
        "the temperature divides probabilities: it is to divide the scores": probabilities(
            lambda s, t: s.softmax(1) / t, lambda s, t: s.sigmoid() / t
        ),
    },
    ulps=50,
)


def test_a_model_that_is_certain_and_right(answer):
    """A TicketModel that is certain and right has next to no loss, and says that it is certain."""
    model = answer.TicketModel(2, 2, 3)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        model.body.weight.copy_(torch.eye(2) * 10)
        model.topic.weight.copy_(torch.tensor([[30.0, 0.0], [0.0, 30.0], [0.0, 0.0]]))
        model.urgent.weight.copy_(torch.tensor([[30.0, -30.0]]))
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    loss = answer.training_loss(model, x, torch.tensor([0, 1]), torch.tensor([1.0, 0.0])).item()
    suspects = {
        "softmax comes twice: in TicketModel, and in cross_entropy": lambda: math.log(math.e + 2) - 1,
        "sigmoid comes twice: before or in the loss": lambda: math.log(1 + 1 / math.e),
    }
    call = "training_loss(model, x, topic, urgent) of a model that is certain and right"
    expect_number(loss, 0.0, call, atol=1e-3, suspects=suspects)
    topics, urgent = answer.predict(model, x)
    expect_close(topics, torch.eye(2, 3), "predict(model, x)[0] of a model that is certain")
    expect_close(urgent, torch.tensor([1.0, 0.0]), "predict(model, x)[1] of a model that is certain")
