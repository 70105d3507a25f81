"""What grades double_softmax: raw scores, loss, gradient, probabilities; scores of any size, modes."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_gradients, expect_that, modes_kept, unchanged
from grader.checks.contract import Contract, dtypes, given, values
from grader.checks.registered import randomize, state_of


class Fixed(nn.Module):
    """A model that gives back the scores it was made with, in the dtype of x."""

    def __init__(self, topic, urgent):
        super().__init__()
        self.scores = topic, urgent

    def forward(self, x):
        topic, urgent = self.scores
        return topic.to(x.dtype), urgent.to(x.dtype)


def tickets(gen, n, topics, size=3.0):
    """A model for n tickets, features, their topics and whether they are urgent."""
    scores, urgent_scores = size * torch.randn(n, topics, generator=gen), size * torch.randn(n, generator=gen)
    topic, urgent = torch.randint(topics, (n,), generator=gen), torch.arange(n).remainder(2).float()
    return Fixed(scores, urgent_scores), torch.zeros(n, 2), topic, urgent


def cross(scores, topic):
    return (scores.logsumexp(1) - scores.gather(1, topic[:, None]).squeeze(1)).mean()


def binary(scores, urgent):
    return -(urgent * F.logsigmoid(scores) + (1 - urgent) * F.logsigmoid(-scores)).mean()


def loss(first=cross, second=binary, weigh=lambda topics, urgency, weight: topics + weight * urgency):
    """The loss as a function of the call's arguments, in float64; or one with something changed."""

    def of(model, x, topic, urgent, urgent_weight=1.0):
        scores, urgent_scores = model(x.double())
        return weigh(first(scores, topic), second(urgent_scores, urgent.double()), urgent_weight)

    return of


def at_once(gen):
    cases = {"five tickets": (5, 3), "seven topics": (2, 7), "a ticket alone": (1, 4)}
    drawn = {about: given(*tickets(gen, *sizes)) for about, sizes in cases.items()}
    drawn["urgency at 0.25"] = given(*tickets(gen, 6, 3), urgent_weight=0.25)
    return drawn


def certain(gen):
    found = {}
    for size in (30.0, 500.0):
        scores, sign = torch.tensor([[size, -size, 0.0]]).repeat(4, 1), torch.tensor([1.0, 1.0, -1.0, -1.0])
        args = torch.zeros(4, 2), torch.tensor([0, 1, 1, 2]), torch.tensor([1.0, 0.0, 1.0, 0.0])
        found[f"scores of ±{size:g}"] = given(Fixed(scores, size * sign), *args)
    return found


training_loss = Contract(
    "training_loss(model, x, topic, urgent, urgent_weight)",
    reference=loss(),
    inputs=at_once,
    scale=8.0,
    suspects={
        "urgent_weight is ignored": loss(weigh=lambda topics, urgency, weight: topics + urgency),
    },
    fine=[
        values(
            inputs=certain,
            name="certain",
            title="A model that is certain, and wrong or right, has a loss that is neither cut off nor inf.",
            scale=500.0,
            suspects={
                "the logarithm of a softmax that is 0: take the loss that does both at once": loss(
                    lambda s, t: F.nll_loss(s.float().softmax(1).log().double(), t)
                ),
                "F.binary_cross_entropy stops at 100, and its gradient with it": loss(
                    second=lambda s, y: F.binary_cross_entropy(s.float().sigmoid().double(), y)
                ),
            },
        ),
        dtypes(torch.float64),
    ],
)


def softened(model, x, temperature=1.0):
    scores, urgent_scores = model(x.double())
    return (scores / temperature).softmax(1), (urgent_scores / temperature).sigmoid()


predict = Contract(
    "predict(model, x, temperature)",
    reference=softened,
    inputs=lambda gen: {
        "five tickets": given(*tickets(gen, 5, 3)[:2]),
        "a ticket alone, hot": given(*tickets(gen, 1, 4)[:2], 5.0),
        "as many tickets as topics, cold": given(*tickets(gen, 3, 3)[:2], 0.5),
    },
    scale=8.0,  # the quotient is rounded before the exponential
)


def test_raw_scores(answer, gen):
    """The model returns the raw scores of its linear layers."""
    for n in (6, 1):
        model = answer.TicketModel(4, 5, 3).double()
        randomize(model, gen)
        w, x = state_of(model), torch.randn(n, 4, generator=gen, dtype=torch.float64)
        h = torch.tanh(x @ w["body.weight"].T + w["body.bias"])
        topics = h @ w["topic.weight"].T + w["topic.bias"]
        urgency = h @ w["urgent.weight"][0] + w["urgent.bias"]
        of_topics = {
            "these are probabilities: softmax belongs into the loss": lambda s=topics: s.softmax(1),
            "these are log-probabilities: log_softmax belongs into the loss": lambda s=topics: s.log_softmax(
                1
            ),
        }
        of_urgency = {"this is a probability: sigmoid belongs into the loss": lambda s=urgency: s.sigmoid()}
        yours, call = model(x), f"TicketModel(4, 5, 3)(x) for {n} tickets"
        expect_close(yours[0].detach(), topics, f"{call}: topics", ulps=100, suspects=of_topics)
        expect_close(yours[1].detach(), urgency, f"{call}: urgency", ulps=100, suspects=of_urgency)


def test_gradient(answer, gen):
    """The gradients at the scores of topics and urgency are right."""
    _, x, topic, urgent = tickets(gen, 6, 3)
    scores = [torch.randn(6, 3, generator=gen), torch.randn(6, generator=gen)]
    expect_gradients(
        lambda s, u: answer.training_loss(Fixed(s, u), x, topic, urgent, 0.3),
        scores,
        lambda s, u: cross(s, topic) + 0.3 * binary(u, urgent.double()),
        gen=gen,
        call="training_loss(model, x, topic, urgent, 0.3)",
        names="topic_scores urgent_scores",
        scale=1.0,
    )


@pytest.mark.fine
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_what_stays(answer, gen, training):
    """Modes and the scores that the model gave stay as they are."""
    model, x, topic, urgent = tickets(gen, 3, 3)
    scores, model = model.scores, nn.Sequential(model).train(training)
    with modes_kept("training_loss(…)", model):
        answer.training_loss(model, x, topic, urgent)
    call = "predict(model, x, 2.0)"
    with modes_kept(call, model), unchanged(call, topic_scores=scores[0], urgent_scores=scores[1]):
        answer.predict(model, x, 2.0)


@pytest.mark.fine
def test_no_graph(answer):
    """What predict returns requires no gradient."""
    yours = answer.predict(answer.TicketModel(2, 4, 3), torch.ones(3, 2))
    expect_that(
        not any(p.requires_grad for p in yours), "the result of predict(model, x) requires a gradient"
    )


def oracle(answer, gen):
    model = answer.TicketModel(4, 5, 3)
    with torch.no_grad():
        for _, p in sorted(model.named_parameters()):
            p.copy_(torch.randn(p.shape, generator=gen))
    x, (_, _, topic, urgent) = torch.randn(6, 4, generator=gen), tickets(gen, 6, 3)

    def gradients():
        answer.training_loss(model, x, topic, urgent, 0.7).backward()
        return [p.grad for _, p in sorted(model.named_parameters())]

    return {
        "raw scores": lambda: [part.detach() for part in model(x)],
        "the gradients of the loss": gradients,
        "probabilities at a temperature": lambda: list(answer.predict(model, x, 1.5)),
    }
