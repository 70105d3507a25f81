"""The contract of TicketModel, training_loss and predict."""

import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_that

SCORES = torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([1.0])
TOPIC, URGENT = torch.tensor([0]), torch.tensor([1.0])


def test_loss_of_the_example(answer):
    """The loss of the worked example is 0.5528."""
    loss = answer.training_loss(lambda x: SCORES, torch.zeros(1, 2), TOPIC, URGENT)
    topics, urgent = SCORES
    twice = F.cross_entropy(topics.softmax(1), TOPIC)
    suspects = {
        "softmax and sigmoid come twice: the losses apply them": lambda: (
            twice + F.binary_cross_entropy_with_logits(urgent.sigmoid(), URGENT)
        ),
        "softmax comes twice: cross_entropy takes logits": lambda: (
            twice + F.binary_cross_entropy_with_logits(urgent, URGENT)
        ),
        "sigmoid comes twice: binary_cross_entropy_with_logits takes logits": lambda: (
            F.cross_entropy(topics, TOPIC) + F.binary_cross_entropy_with_logits(urgent.sigmoid(), URGENT)
        ),
        "the loss of the urgency is missing": lambda: F.cross_entropy(topics, TOPIC),
        "the loss of the topic is missing": lambda: F.binary_cross_entropy_with_logits(urgent, URGENT),
    }
    wanted, call = torch.tensor(0.239542 + 0.313262), "training_loss(model, x, topic, urgent)"
    expect_close(loss, wanted, call, ulps=50, suspects=suspects)


def test_probabilities_of_the_example(answer):
    """The probabilities of the worked example come out, at both temperatures."""
    for temperature, topics, urgent in [
        (1.0, [0.786986, 0.106507, 0.106507], 0.731059),
        (2.0, [0.576117, 0.211942, 0.211942], 0.622459),
    ]:
        call = f"predict(model, x, temperature={temperature})"
        yours = answer.predict(lambda x: SCORES, torch.zeros(1, 2), temperature=temperature)
        scores = [score / temperature for score in SCORES]
        of_topics = {
            "softmax comes twice": lambda s=scores: s[0].softmax(1).softmax(1),
            "these are the logits: softmax is missing": lambda s=scores: s[0],
            "temperature is ignored": lambda: SCORES[0].softmax(1),
        }
        of_urgent = {
            "sigmoid comes twice": lambda s=scores: s[1].sigmoid().sigmoid(),
            "this is the logit: sigmoid is missing": lambda s=scores: s[1],
            "temperature is ignored": lambda: SCORES[1].sigmoid(),
        }
        expect_close(yours[0], torch.tensor([topics]), f"{call}[0]", ulps=50, suspects=of_topics)
        expect_close(yours[1], torch.tensor([urgent]), f"{call}[1]", ulps=50, suspects=of_urgent)


def test_a_model_that_is_certain_and_right(answer):
    """A TicketModel that is certain and right has next to no loss, and says that it is certain."""
    model = answer.TicketModel(2, 2, 3)
    with torch.no_grad():
        model.body.weight.copy_(torch.eye(2) * 10)
        model.body.bias.zero_()
        model.topic.weight.copy_(torch.tensor([[30.0, 0.0], [0.0, 30.0], [0.0, 0.0]]))
        model.topic.bias.zero_()
        model.urgent.weight.copy_(torch.tensor([[30.0, -30.0]]))
        model.urgent.bias.zero_()
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    loss = answer.training_loss(model, x, torch.tensor([0, 1]), torch.tensor([1.0, 0.0])).item()
    expect_that(loss < 0.001, "the loss of a model that is certain and right", yours=loss, wanted="nearly 0")
    topics, urgent = answer.predict(model, x)
    expect_close(topics, torch.eye(2, 3), "predict(model, x)[0] of a model that is certain")
    expect_close(urgent, torch.tensor([1.0, 0.0]), "predict(model, x)[1] of a model that is certain")
