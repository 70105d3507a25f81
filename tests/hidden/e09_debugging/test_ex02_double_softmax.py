"""What grades double_softmax: raw scores, losses of any size, gradients, temperatures, training."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradients,
    expect_raises,
    expect_that,
    modes_kept,
    unchanged,
)
from grader.checks.registered import expect_registered, randomize, state_of

NAMES = {
    "body.weight": (5, 4),
    "body.bias": (5,),
    "topic.weight": (3, 5),
    "topic.bias": (3,),
    "urgent.weight": (1, 5),
    "urgent.bias": (1,),
}


class Fixed(nn.Module):
    """A model that gives back the scores it was made with, and counts its runs."""

    def __init__(self, topic, urgent):
        super().__init__()
        self.scores, self.runs = (topic, urgent), 0

    def forward(self, x):
        self.runs += 1
        return self.scores


def tickets(gen, n, topics, dtype=torch.float32, size=3.0):
    """Scores of n tickets, their topics and urgencies."""
    scores = (torch.randn(n, topics, generator=gen) * size).to(dtype)
    urgent_scores = (torch.randn(n, generator=gen) * size).to(dtype)
    topic = torch.randint(topics, (n,), generator=gen)
    return scores, urgent_scores, topic, torch.arange(n).remainder(2).to(dtype)


def exact_loss(topic_scores, urgent_scores, topic, urgent, weight=1.0):
    """In float64, from the definition."""
    s, u, y = topic_scores.double(), urgent_scores.double(), urgent.double()
    own = s.gather(1, topic[:, None]).squeeze(1)
    urgency = -(y * F.logsigmoid(u) + (1 - y) * F.logsigmoid(-u))  # softplus is a line from 20 on
    return (s.logsumexp(1) - own).mean() + weight * urgency.mean()


def test_raw_scores(answer, gen):
    """The model's results are those of its linear layers, for batches of any size."""
    for features, hidden, topics, n in [(4, 5, 3, 6), (4, 5, 3, 1), (3, 2, 7, 2), (2, 6, 1, 1), (4, 5, 3, 0)]:
        model = answer.TicketModel(features, hidden, topics).double()
        randomize(model, gen)
        w, x = state_of(model), torch.randn(n, features, generator=gen, dtype=torch.float64)
        h = torch.tanh(x @ w["body.weight"].T + w["body.bias"])
        wanted_topic = h @ w["topic.weight"].T + w["topic.bias"]
        wanted_urgent = h @ w["urgent.weight"][0] + w["urgent.bias"]
        for mode in (True, False):
            call = f"TicketModel({features}, {hidden}, {topics})(x) for {n} tickets"
            topic, urgent = model.train(mode)(x)
            expect_close(topic, wanted_topic, f"{call}: topics", dims="batch topics", ulps=100)
            expect_close(urgent, wanted_urgent, f"{call}: urgency", dims="batch", ulps=100)


def test_checkpoints_load(answer):
    """The parameters have their old names and shapes."""
    expect_registered(answer.TicketModel(4, 5, 3), "TicketModel(4, 5, 3)", parameters=NAMES)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_loss(answer, gen, dtype):
    """The loss is the mean cross-entropy plus the weighted mean of the binary one, in the scores' dtype."""
    for n, topics, weight in [(5, 3, 1.0), (1, 7, 0.25), (4, 2, 3.0), (3, 4, 0.0)]:
        scores, urgent_scores, topic, urgent = tickets(gen, n, topics, dtype)
        wanted = exact_loss(scores, urgent_scores, topic, urgent, weight).to(dtype)
        model, call = Fixed(scores, urgent_scores), f"training_loss(…, urgent_weight={weight})"
        with unchanged(call, topic_scores=scores, urgent_scores=urgent_scores, urgent=urgent):
            yours = answer.training_loss(model, torch.zeros(n, 2), topic, urgent, weight)
        expect_close(yours, wanted, f"{call} for {n} tickets in {dtype}", scale=8.0)
        expect_equal(model.runs, 1, f"the runs of the model in {call}")
    scores, urgent_scores, topic, urgent = tickets(gen, 6, 3, dtype)
    yours = answer.training_loss(Fixed(scores, urgent_scores), torch.zeros(6, 2), topic, urgent)
    wanted = exact_loss(scores, urgent_scores, topic, urgent).to(dtype)
    expect_close(yours, wanted, f"training_loss(…) without urgent_weight in {dtype}", scale=8.0)


@pytest.mark.parametrize("size", [30.0, 500.0, 1e30])
def test_loss_of_large_scores(answer, size):
    """The loss of a model that is certain and wrong, or certain and right, is neither cut off nor NaN."""
    scores = torch.tensor([[size, -size, 0.0]]).repeat(2, 1)
    for topic, sign, y in [(0, 1, 1.0), (1, 1, 0.0), (1, -1, 1.0), (2, -1, 0.0)]:
        urgent_scores, urgent = torch.full((2,), size * sign), torch.full((2,), y)
        target = torch.full((2,), topic)
        wanted = exact_loss(scores, urgent_scores, target, urgent).float()
        yours = answer.training_loss(Fixed(scores, urgent_scores), torch.zeros(2, 2), target, urgent)
        expect_close(yours, wanted, f"training_loss(…) for scores of ±{size:g}", scale=size)


@pytest.mark.parametrize("size", [3.0, 200.0])
def test_gradient(answer, gen, size):
    """The gradient at the scores is right, also where the model is certain and wrong."""
    scores, urgent_scores, topic, urgent = tickets(gen, 6, 3, size=size)
    x = torch.zeros(6, 2)
    for weight in (1.0, 0.3):
        expect_gradients(
            lambda s, u, w=weight: answer.training_loss(Fixed(s, u), x, topic, urgent, urgent_weight=w),
            [scores, urgent_scores],
            lambda s, u, w=weight: exact_loss(s, u, topic, urgent, w),
            gen=gen,
            call=f"training_loss(…, urgent_weight={weight})",
            names="topic_scores urgent_scores",
            scale=1.0,  # p - y: where the model is certain and right, what is left of 1
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_probabilities(answer, gen, dtype):
    """Each ticket's probabilities are one softmax and one sigmoid of its scores over the temperature."""
    for n, topics, temperature in [(5, 3, 1.0), (3, 3, 0.5), (1, 4, 5.0), (0, 3, 2.0), (2, 1, 1.0)]:
        scores, urgent_scores, _, _ = tickets(gen, n, topics, dtype)
        wanted = (scores.double() / temperature).exp()
        wanted = (wanted / wanted.sum(1, keepdim=True)).to(dtype)
        wanted_urgent = (1 / (1 + (-urgent_scores.double() / temperature).exp())).to(dtype)
        model = Fixed(scores.requires_grad_(), urgent_scores.requires_grad_())
        yours = answer.predict(model, torch.zeros(n, 2), temperature)
        call = f"predict(model, x, {temperature}) for {n} tickets in {dtype}"
        for part, right in zip(yours, (wanted, wanted_urgent), strict=True):
            expect_that(not part.requires_grad, f"the result of {call} requires a gradient")
            # the quotient is rounded before the exponential, which makes relative errors of its size
            expect_close(part, right, call, scale=8.0)
        expect_equal(model.runs, 1, f"the runs of the model in {call}")


def test_certain_probabilities(answer):
    """Scores of any size give probabilities, and the default temperature is 1."""
    for size in (1e3, 1e30):
        scores, urgent_scores = torch.tensor([[size, 0.0, -size]] * 2), torch.tensor([-size, size])
        topics, urgent = answer.predict(Fixed(scores, urgent_scores), torch.zeros(2, 2))
        expect_close(topics, torch.tensor([[1.0, 0.0, 0.0]] * 2), f"predict(…)[0] for scores of ±{size:g}")
        expect_close(urgent, torch.tensor([0.0, 1.0]), f"predict(…)[1] for scores of ±{size:g}")
    scores = torch.tensor([[0.0, -20.0]], dtype=torch.float64)
    topics, urgent = answer.predict(Fixed(scores, scores[:, 1]), torch.zeros(1, 2))
    call = "the probabilities that predict(…) gives to scores of -20 in float64"
    unlikely = torch.full((2,), 2.0611536e-9, dtype=torch.float64)
    expect_close(torch.stack([topics[0, 1], urgent[0]]), unlikely, call, scale=1.0)
    scores = torch.tensor([[1.0, 0.0]])
    topics, _ = answer.predict(Fixed(scores, torch.zeros(1)), torch.zeros(1, 2))
    expect_close(topics, torch.tensor([[0.7310586, 0.2689414]]), "predict(model, x)[0]", ulps=20)


def test_large_scores_at_a_temperature(answer):
    """The scores are divided, not the probabilities: those of 200 and -200 are 0.98 and 0.02 at 100."""
    for size, temperature in ((200.0, 100.0), (0.002, 0.001)):
        scores, urgent_scores = torch.tensor([[size, -size, 0.0]]), torch.tensor([-1.5 * size])
        model = Fixed(scores, urgent_scores)
        call = f"predict(model, x, {temperature:g}) for scores of ±{size:g}"
        with unchanged(call, topic_scores=scores, urgent_scores=urgent_scores):
            topics, urgent = answer.predict(model, torch.zeros(1, 2), temperature)
        expect_close(topics, (scores / temperature).softmax(1), f"{call}: topics", scale=8.0)
        expect_close(urgent, torch.tensor([-3.0]).sigmoid(), f"{call}: urgency", scale=8.0)


def test_modes_are_the_callers(answer, gen):
    """Neither the loss nor the prediction switches the model's mode, or that of recording gradients."""
    for mode in (True, False):
        scores, urgent_scores, topic, urgent = tickets(gen, 2, 3)
        model = nn.Sequential(Fixed(scores, urgent_scores)).train(mode)
        seen = []
        model.register_forward_hook(lambda m, *_, seen=seen: seen.append(m.training))
        answer.training_loss(model, torch.zeros(2, 2), topic, urgent)
        answer.predict(model, torch.zeros(2, 2))
        expect_equal([*seen, model.training], [mode] * 3, "the training flags during and after the calls")
        with torch.set_grad_enabled(mode), modes_kept("predict(model, x)"):
            answer.predict(model, torch.zeros(2, 2))
    call = "predict(model, x), where the model raises an error"
    with modes_kept(call):  # 3 numbers for a layer of 2
        expect_raises(
            RuntimeError, lambda: answer.predict(answer.TicketModel(2, 4, 3), torch.zeros(2, 3)), call
        )


def test_the_loss_falls(answer, gen):
    """Trained on tickets that are told apart easily, the loss falls below what two squeezes allow."""
    model = answer.TicketModel(2, 4, 3)
    randomize(model, gen)
    corners = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    topic, urgent = torch.tensor([0, 1, 2, 2]), torch.tensor([1.0, 0.0, 1.0, 0.0])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.2)
    for _ in range(60):
        optimizer.zero_grad()
        loss = answer.training_loss(model, corners, topic, urgent)
        loss.backward()
        optimizer.step()
    expect_that(loss.item() < 0.2, "the loss after 60 steps", yours=loss.item(), wanted="below 0.2")
    topics, _ = answer.predict(model, corners)
    sure = topics.gather(1, topic[:, None]).min().item()
    expect_that(sure > 0.8, "the probability of a right topic after 60 steps", yours=sure)


def oracle(answer, gen):
    model = answer.TicketModel(4, 5, 3)
    with torch.no_grad():
        for _, p in sorted(model.named_parameters()):
            p.copy_(torch.randn(p.shape, generator=gen))
    x = torch.randn(6, 4, generator=gen)
    _, _, topic, urgent = tickets(gen, 6, 3)
    loss = answer.training_loss(model, x, topic, urgent, 0.7)
    loss.backward()
    gradients = [p.grad for _, p in sorted(model.named_parameters())]
    raw = [part.detach() for part in model(x)]
    sure = Fixed(torch.tensor([[90.0, -90.0]]), torch.tensor([-70.0]))
    wrong = answer.training_loss(sure, x[:1], torch.tensor([1]), torch.tensor([1.0]))
    return [raw, loss.detach(), gradients, wrong, list(answer.predict(model, x, 1.5))]
