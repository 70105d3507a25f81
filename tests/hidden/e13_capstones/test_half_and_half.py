"""What grades half_and_half: model, loss, scaler, optimizer, updates, each alone; cost."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from grader.checks import expect_that

HALF = torch.float16


class Line(nn.Module):
    """A model that multiplies by one table, in half; all readings count alike. It notes how it is called."""

    def __init__(self, table):
        super().__init__()
        self.table, self.graphs = nn.Parameter(table.to(HALF)), []

    def forward(self, x, seconds):
        self.graphs.append(torch.is_grad_enabled())
        return x @ self.table, torch.full((len(x), 4), 0.25, dtype=HALF)


class Noted:
    """In place of Adam and Schedule: adds gradients up in float32, and notes those of a step."""

    def __init__(self, model=None):
        self.params = list(model.parameters()) if model else []
        self.grads = [torch.zeros(p.shape) for p in self.params]
        self.steps, self.lr, self.seen = 0, 0.1, []

    def zero(self):
        for p, grad in zip(self.params, self.grads, strict=True):
            p.grad = None
            grad.zero_()

    def collect(self):
        for p, grad in zip(self.params, self.grads, strict=True):
            grad.add_(p.grad)
            p.grad = None

    def step(self):
        self.steps += 1
        self.seen = [grad.clone() for grad in self.grads]


def rows(gen, size=1.0, count=8):
    """A small batch for Line."""
    x = size * torch.randn(count, 3, generator=gen)
    return x.to(HALF), torch.zeros(count), torch.randint(4, (count,), generator=gen)


def adam(answer, values, lr=0.01):
    """Adam for one weight in half."""
    return answer.optim.Adam([nn.Parameter(torch.tensor(values, dtype=HALF))], lr)


def taken(optimizer, *gradients):
    """A step by the sum of these gradients, each of a backward of its own."""
    optimizer.zero()
    for gradient in gradients:
        (optimizer.params[0] * torch.tensor(gradient, dtype=HALF)).sum().backward()
        optimizer.collect()
    optimizer.step()
    return optimizer.masters[0].detach().clone()


def in_short(numbers):
    return [round(float(number), 4) for number in numbers]


def test_loud_readings(answer, gen):
    """Loud readings come out of the norm as quiet ones do."""
    quiet = torch.randn(4, 8, generator=gen)
    norm = answer.model.Norm(8).half()
    for loudness in (300, 1500, 9000):
        x = (loudness * quiet).to(HALF)
        wanted = x.double() / (x.double().square().mean(-1, keepdim=True) + 1e-5).sqrt()
        yours = norm(x).detach()
        near = torch.allclose(yours.double(), wanted, atol=5e-3, rtol=5e-3)
        what = f"readings as loud as {loudness} come out of Norm with other numbers than quiet ones"
        expect_that(near, what, yours=in_short(yours[0, :4]), wanted=in_short(wanted[0, :4]))


def test_late_seconds(answer):
    """Late in the day one second is told from the next, as in the morning."""
    seconds = torch.tensor([3, 2049, 4099, 5003, 7997])
    angles = 2 * math.pi * seconds.double().unsqueeze(-1) / torch.tensor([4.0, 8.0, 16.0, 32.0])
    wanted, yours = torch.cat([angles.sin(), angles.cos()], -1), answer.model.phases(seconds)
    far = (yours.double() - wanted).abs().amax(-1)
    what = "late seconds of the day have other phases than they should"
    expect_that(bool((far < 4e-3).all()), what, seconds=seconds.tolist(), differences=in_short(far))


def test_large_scores(answer, gen):
    """Large scores share out the weights as small ones with the same differences do."""
    h, small = (
        torch.randn(3, 4, 2, generator=gen).to(HALF),
        torch.randn(3, 4, generator=gen).mul(8).round() / 8,
    )
    for level in (0, 14, 60, -60):
        scores = (small + level).to(HALF)
        wanted = scores.double().softmax(-1)
        pooled, weights = answer.model.attend(h, scores)
        far = (weights.double() - wanted).abs().max().item()
        what = f"scores of about {level} give other weights than scores of about 0"
        expect_that(far < 2e-3, what, yours=in_short(weights[0]), wanted=in_short(wanted[0]))
    far = (pooled.double() - (wanted.unsqueeze(-1) * h.double()).sum(1)).abs().max().item()
    expect_that(far < 0.01, "attend gives another mean than that of its weights", difference=round(far, 4))


def test_weights_of_zero(answer):
    """Readings of weight 0 add nothing to the entropy."""
    weights = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25] * 4], dtype=HALF)
    weights.requires_grad_()
    yours = answer.model.entropy(weights)
    wanted = torch.tensor([0.0, math.log(2), math.log(4)])
    near = torch.allclose(yours.float(), wanted, atol=1e-5)
    what = "the entropy of weights [1, 0, 0, 0], [½, ½, 0, 0] and [¼, ¼, ¼, ¼] is not 0, log 2 and log 4"
    expect_that(near, what, yours=yours.tolist(), wanted=in_short(wanted))
    yours.sum().backward()
    expect_that(
        bool(weights.grad.isfinite().all()), "a weight of 0 has a gradient of the entropy that is not finite"
    )


def test_scale_falls(answer):
    """The scale becomes lower with each update that is skipped."""
    for first in (2.0**22, 64.0):
        scaler = answer.scaler.Scaler(first, 5)
        yours = []
        for _ in range(4):
            scaler.update(False)
            yours.append(scaler.scale)
        wanted = [first / 2**n for n in (1, 2, 3, 4)]
        what = f"four skipped updates do not make a scale of {first:g} lower, by half each time"
        expect_that(yours == wanted, what, yours=yours, wanted=wanted)


def test_scale_grows(answer):
    """The scale grows by 2 after each `interval` of good updates, and not in between."""
    scaler = answer.scaler.Scaler(8.0, 3)
    yours = []
    for _ in range(8):
        scaler.update(True)
        yours.append(scaler.scale)
    wanted = [8.0, 8.0, 16.0, 16.0, 16.0, 32.0, 32.0, 32.0]
    what = "in 8 good updates with an interval of 3, the scale grows at other times"
    expect_that(yours == wanted, what, yours=yours, wanted=wanted)


def test_small_beside_large(answer):
    """A batch with a small gradient counts beside one with a large gradient."""
    optimizer = adam(answer, [0.0, 0.0])
    taken(optimizer, [2048.0, -4096.0], [1.0, -1.0], [1.0, -1.0])
    yours, wanted = optimizer.grads[0].tolist(), [2050.0, -4098.0]
    what = "the gradients 2048, 1 and 1 of three batches, and -4096, -1 and -1, are not added up as they are"
    expect_that(yours == wanted, what, yours=yours, wanted=wanted)


def test_small_gradients(answer):
    """A weight with a small gradient makes a step of the learning rate, as others do."""
    yours = taken(adam(answer, [0.0, 0.0, 0.0]), [1.0, 2.0**-13, -(2.0**-13)])
    what = "a weight with a gradient of 0.00012 leaps: its first step is not the learning rate of 0.01"
    near = torch.allclose(yours, torch.tensor([-0.01, -0.01, 0.01]), rtol=0.01)
    expect_that(near, what, yours=in_short(yours), wanted=[-0.01, -0.01, 0.01])


def test_small_changes(answer):
    """Many small changes of a weight add up to a large one."""
    optimizer = adam(answer, [1.0, -3.0], lr=1e-5)
    for _ in range(200):
        yours = taken(optimizer, [1.0, -1.0])
    what = "after 200 changes of 0.00001 each, a weight does not move by 0.002"
    moved = yours - torch.tensor([1.0, -3.0])
    near = torch.allclose(moved, torch.tensor([-0.002, 0.002]), rtol=0.02)
    expect_that(near, what, moved=[round(m, 6) for m in moved.tolist()])
    weight, wanted = optimizer.params[0].detach(), yours.to(HALF)
    expect_that(
        torch.equal(weight, wanted), "the model's weight is not the master, rounded", yours=weight.tolist()
    )


def test_what_is_saved(answer, gen):
    """What is saved and loaded is all that the optimizer knew, to the last digit."""
    optimizer, other = adam(answer, [0.0] * 5), adam(answer, [0.0] * 5)
    optimizer.masters[0].copy_(torch.rand(5, generator=gen))
    wanted = optimizer.masters[0].clone()
    optimizer.params[0].data.copy_(wanted)
    other.load_state_dict(optimizer.state_dict())
    far = (other.masters[0] - wanted).abs().max().item()
    expect_that(
        far == 0,
        "an optimizer that loads a state_dict has other masters than the one that saved it",
        difference=far,
    )


def test_digits_of_the_loss(answer, gen):
    """A small change of the logits changes the loss by its digits."""
    even = torch.full((4, 1), 1.0, dtype=HALF)
    for _ in range(4):
        logits, y = (9 * torch.randn(4, 5, generator=gen)).to(HALF), torch.randint(5, (4,), generator=gen)
        wanted = F.cross_entropy(logits.double(), y).item()
        yours = answer.train.loss_of(logits, even, y).item()
        what = "the loss is right in its first three digits alone"
        expect_that(abs(yours - wanted) < 1e-5 * (1 + wanted), what, yours=yours, wanted=wanted)


def test_clipping(answer, gen):
    """How long a step is does not depend on the scale."""
    table = torch.randn(3, 4, generator=gen)
    for size, case in ((0.3, "small"), (40.0, "large")):
        model, batch = Line(table), rows(gen, size)
        free = model.table.detach().double().requires_grad_()
        wanted = torch.autograd.grad(F.cross_entropy(batch[0].double() @ free, batch[2]), free)[0]
        wanted = min(1.0, wanted.norm().item())
        for scale in (1.0, 1024.0):
            optimizer = Noted(model)
            answer.train.update(model, optimizer, answer.scaler.Scaler(scale), Noted(), [batch])
            yours = optimizer.seen[0].norm().item() if optimizer.seen else 0.0
            what = f"the norm of a {case} gradient at the step depends on the scale, here {scale:g}"
            expect_that(
                abs(yours - wanted) < 0.02 * wanted, what, yours=round(yours, 5), wanted=round(wanted, 5)
            )


def overflown(answer, gen):
    """Optimizer, schedule and scaler after an update whose gradients overflow, and what update returned."""
    model = Line(torch.randn(3, 4, generator=gen))
    optimizer, schedule, scaler = Noted(model), Noted(), answer.scaler.Scaler(2.0**40)
    result = answer.train.update(model, optimizer, scaler, schedule, [rows(gen), rows(gen)])
    return optimizer, schedule, scaler, result


def test_overflow(answer, gen):
    """An update with gradients that overflow moves no weight."""
    optimizer, _, _, (_, finite) = overflown(answer, gen)
    expect_that(not optimizer.steps, "a step is taken though its gradients overflow", steps=optimizer.steps)
    expect_that(finite is False, "update does not tell that it was skipped", yours=finite)


def test_rate_of_skipped(answer, gen):
    """The learning rate stays as it is where an update is skipped."""
    _, schedule, _, _ = overflown(answer, gen)
    what = "the schedule of the learning rate goes on though the update was skipped"
    expect_that(not schedule.steps, what, steps_of_the_schedule=schedule.steps)
    model, schedule = Line(torch.randn(3, 4, generator=gen)), Noted()
    for _ in range(3):
        answer.train.update(model, Noted(model), answer.scaler.Scaler(4.0), schedule, [rows(gen)])
    what = "in 3 good updates the schedule of the learning rate goes on otherwise than 3 times"
    expect_that(schedule.steps == 3, what, steps_of_the_schedule=schedule.steps)


def test_nan_gradients(answer):
    """Gradients are divided by the scale, and one that is inf or NaN is found."""
    for bad in (math.nan, math.inf, -math.inf, 1.0):
        grads = [torch.tensor([2.0, 6.0]), torch.tensor([3.0, bad, 5.0])]
        finite = answer.scaler.Scaler(4.0).unscale(grads)
        expect_that(finite is (bad == 1), f"unscale returns {finite} where a gradient is {bad}")
    expect_that(
        grads[0].tolist() == [0.5, 1.5], "unscale does not divide by the scale", yours=grads[0].tolist()
    )


def test_in_a_row(answer):
    """A skipped update begins the count of good ones anew."""
    scaler = answer.scaler.Scaler(8.0, 3)
    for finite in (True, True, False):
        scaler.update(finite)
    before = scaler.scale
    for _ in range(2):
        scaler.update(True)
    what = "good updates before a skipped one count for the next growth of the scale"
    expect_that(scaler.scale == before, what, yours=scaler.scale, wanted=before)


def test_going_on(answer, gen):
    """An optimizer that loads a state goes on from there, and so does its model."""
    weights, means, squares = torch.rand(3, 4, generator=gen)
    state = {"weights": [weights], "means": [means], "squares": [squares], "steps": 7, "lr": 0.02}
    optimizer = adam(answer, [0.0] * 4)
    optimizer.load_state_dict(state)
    yours, wanted = optimizer.params[0].detach(), weights.to(HALF)
    expect_that(
        torch.equal(yours, wanted), "after loading, the model has other weights", yours=yours.tolist()
    )
    change = 0.02 * (0.9 * means + 0.1) / (1 - 0.9**8) / ((0.99 * squares + 0.01) / (1 - 0.99**8)).sqrt()
    far = (taken(optimizer, [1.0] * 4) - (weights - change)).abs().max().item()
    expect_that(far < 2e-3, "the step after loading is another than without", difference=round(far, 5))


def test_missing(answer, gen):
    """A reading that is missing has the weight 0, and what the model says is finite."""
    x = (300 * torch.randn(4, 10, 8, generator=gen)).to(HALF)
    x[:, 6:] = 0
    with torch.no_grad():
        _, weights = answer.model.Net().half()(x, torch.arange(4))
    expect_that(
        bool((weights[:, 6:] == 0).all()), "missing readings have a weight", yours=in_short(weights[0])
    )


def test_names(answer):
    """The weights of the model keep names, shapes and dtype."""
    wanted = {"norm.weight": (8,), "embed.weight": (32, 8), "embed.bias": (32,), "score.weight": (1, 32)}
    wanted |= {"clock.weight": (32, 8), "head.weight": (6, 32), "head.bias": (6,)}
    before = torch.get_rng_state()
    try:
        model, _ = answer.train.train(1, say=lambda line: None)
    finally:
        torch.set_rng_state(before)
    yours = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    expect_that(yours == wanted, "names or shapes of the weights of Net have changed", yours=yours)
    dtypes = {str(value.dtype) for value in model.state_dict().values()}
    expect_that(dtypes == {"torch.float16"}, "the model is not trained in float16", dtypes=dtypes)


@pytest.mark.fine
def test_one_pass(answer, gen):
    """An update runs the model once for each small batch."""
    model = Line(torch.randn(3, 4, generator=gen))
    answer.train.update(model, Noted(model), answer.scaler.Scaler(4.0), Noted(), [rows(gen)] * 3)
    expect_that(
        len(model.graphs) == 3, "3 small batches are other than 3 runs of the model", runs=len(model.graphs)
    )


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Measuring the accuracy builds no graph."""
    model = Line(torch.randn(3, 4, generator=gen))
    answer.train.accuracy(model, rows(gen))
    expect_that(not any(model.graphs), "accuracy(model, data) builds a graph")


def oracle(answer, gen):
    x, seconds = (
        (200 * torch.randn(4, 10, 8, generator=gen)).to(HALF),
        torch.randint(8000, (4,), generator=gen),
    )
    shapes = {name: value.shape for name, value in answer.model.Net().state_dict().items()}
    state = {name: 0.3 * torch.randn(shape, generator=gen) for name, shape in shapes.items()}
    table, batches = torch.randn(3, 4, generator=gen), [rows(gen), rows(gen)]
    flags, gradients = torch.rand(40, generator=gen) < 0.8, torch.randn(5, 4, generator=gen)

    peak = torch.rand((), generator=gen, dtype=torch.float64).item()

    def logits():
        model = answer.model.Net().half()
        model.load_state_dict(state)
        with torch.no_grad():
            return list(model(x, seconds))

    def update():
        model = Line(table)
        optimizer = Noted(model)
        loss, _ = answer.train.update(model, optimizer, answer.scaler.Scaler(16.0), Noted(), batches)
        return [loss, *(grad.to(HALF) for grad in optimizer.seen)]

    def scales():
        scaler, found = answer.scaler.Scaler(2.0**16, 3), []
        for flag in flags.tolist():
            scaler.update(flag)
            found.append(scaler.scale)
        return found

    def weights():
        optimizer = adam(answer, [0.5, 1.0, -1.0, 2.0])
        return [taken(optimizer, gradient.tolist()) for gradient in gradients]

    def rates():
        optimizer, found = Noted(), []
        schedule = answer.optim.Schedule(optimizer, peak, 4, 12)
        for _ in range(12):
            found.append(optimizer.lr)
            schedule.step()
        return found

    return {
        "learning rates": rates,
        "logits and weights": logits,
        "an update": update,
        "the scale": scales,
        "masters": weights,
    }
