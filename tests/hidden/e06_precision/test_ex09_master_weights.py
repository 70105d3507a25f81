"""What grades MasterWeights: masters, steps in float32, rounding, loss scales, resuming, groups, devices."""

import copy
import io
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, shares_storage
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated

DTYPES = [torch.bfloat16, torch.float16]
MAKERS = {
    "SGD": lambda masters: torch.optim.SGD(masters, lr=0.01),
    "SGD with momentum": lambda masters: torch.optim.SGD(masters, lr=0.01, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda masters: torch.optim.AdamW(masters, lr=1e-3),
}


def network(gen, dtype=torch.bfloat16, norm=torch.float32):
    """Linear layers in `dtype`, and a norm between them in another one."""
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)).to(dtype)
    model[1].to(norm)
    model[2].gain = nn.Parameter(torch.ones((), dtype=dtype))
    model[2].weight.data = model[2].weight.data.t().contiguous().t()  # in another layout
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


def give(gen, model, size=1.0):
    """New gradients, in the dtypes of the parameters."""
    for p in model.parameters():
        p.grad = (
            (size * torch.randn(p.shape, generator=gen)).to(p.device, p.dtype) if p.requires_grad else None
        )


def exact_of(model):
    """The trainable parameters in float64."""
    return [p.detach().double().cpu().requires_grad_() for p in model.parameters() if p.requires_grad]


def exact_step(model, exact, optimizer, loss_scale=1.0):
    """The same step in float64."""
    for p, e in zip([p for p in model.parameters() if p.requires_grad], exact, strict=True):
        e.grad = None if p.grad is None else p.grad.double().cpu() / loss_scale
    optimizer.step()


def expect_follows(training, model, exact, when, ulps=None):
    """Masters as in float64, and the model as the masters, rounded."""
    params = [p for p in model.parameters() if p.requires_grad]
    expect_equal(len(training.masters), len(params), "the number of masters")
    for index, (master, p, right) in enumerate(zip(training.masters, params, exact, strict=True)):
        wanted = right.detach().float().to(p.device)
        expect_close(master.detach(), wanted, f"master {index} after {when}", ulps=ulps, scale=2.0)
        rounded = master.detach().to(p.dtype)
        expect_equal(
            p.detach(), rounded, f"parameter {index} of the model (its master, rounded) after {when}"
        )


def test_masters(answer, gen):
    """One float32 leaf for each trainable parameter, in order, with its values and memory of its own."""
    model = network(gen)
    model[0].bias.requires_grad_(False)
    model.register_buffer("mean", torch.full((2,), 1.001))
    made = []

    def make(masters):
        made.append(list(masters))
        expect_equal(type(masters).__name__, "list", "the type of what make_optimizer is given")
        return torch.optim.SGD(masters, lr=0.5)

    before = copy.deepcopy(model.state_dict())
    training = answer.MasterWeights(model, make)
    params = [p for p in model.parameters() if p.requires_grad]
    expect_equal(len(made), 1, "the number of times that make_optimizer is called")
    expect_equal(len(training.masters), len(params), "the number of masters")
    for given, master, p in zip(made[0], training.masters, params, strict=True):
        expect_that(given is master, "make_optimizer is given other tensors than the masters")
        expect_equal(master.detach(), p.detach().float(), "a master at first")
        expect_equal(
            (master.is_leaf, master.requires_grad), (True, True), "(is_leaf, requires_grad) of a master"
        )
        expect_that(not shares_storage(master, p), f"the master of a {p.dtype} parameter shares its memory")
    for name, value in model.state_dict().items():
        expect_equal(value, before[name], f"{name} of the model after MasterWeights(…)")
    expect_equal(type(training.optimizer).__name__, "SGD", "the type of training.optimizer")
    with default_dtype(torch.float64):
        masters = answer.MasterWeights(model, MAKERS["SGD"]).masters
    for master in masters:
        what = "the dtype of a master that is made while PyTorch's default dtype is float64"
        expect_equal(master.dtype, torch.float32, what)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tiny_steps_survive(answer, gen, dtype):
    """Hundreds of steps, each too small for the model's dtype, lead where a float64 run leads."""
    model = network(gen, dtype)
    exact, number, lr = exact_of(model), 300, 1e-5
    training = answer.MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=lr))
    give(gen, model)
    gradients = [p.grad.double() for p in model.parameters()]
    for _ in range(number):
        training.step()
    for index, (master, p, start, g) in enumerate(
        zip(training.masters, model.parameters(), exact, gradients, strict=True)
    ):
        right = start.detach() - number * lr * g
        # each step is rounded to half a unit of float32, at most at the size of the largest number on the way
        drift = number * 2.0**-24 * (start.detach().abs() + right.abs() + number * lr * g.abs())
        error = (master.detach().double() - right).abs()
        expect_that(
            bool((error <= drift).all()),
            f"master {index} is farther from a float64 run than float32 explains",
            yours=f"off by {float(error.max()):.3g}",
            wanted=f"by {float(drift.max()):.3g} at most, after {number} steps",
        )
        allowed = drift + torch.finfo(p.dtype).eps / 2 * right.abs() + torch.finfo(p.dtype).smallest_normal
        error = (p.detach().double() - right).abs()
        expect_that(
            bool((error <= allowed).all()),
            f"parameter {index} in {p.dtype} is farther from a float64 run than one rounding explains",
            yours=f"off by {float(error.max()):.3g}",
            wanted=f"by {float(allowed.max()):.3g} at most, after {number} steps",
        )


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_steps(answer, gen, dtype, kind):
    """Step by step, masters are those of the optimizer in float64, and the model is the masters, rounded."""
    model = network(gen, dtype)
    exact = exact_of(model)
    training, other = answer.MasterWeights(model, MAKERS[kind]), MAKERS[kind](exact)
    for number in range(4):
        give(gen, model)
        exact_step(model, exact, other)
        training.step()
        expect_follows(training, model, exact, f"step {number} with {kind} in {dtype}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_loss_scale(answer, gen, dtype):
    """Gradients are divided by loss_scale in float32: none vanishes, none loses digits."""
    model = network(gen, dtype)
    exact = exact_of(model)
    training = answer.MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=1.0))
    other = torch.optim.SGD(exact, lr=1.0)
    seen = []
    training.optimizer.register_step_pre_hook(
        lambda *_: seen.extend(m.grad.clone() for m in training.masters)
    )
    for scale, size in ((65536.0, 1e-3), (1000.0, 3.0), (3.0, 1.0), (0.5, 1.0), (1.0, 0.25)):
        give(gen, model, size)
        wanted = [(p.grad.double() / scale).float() for p in model.parameters()]
        exact_step(model, exact, other, scale)
        held = [p.grad.clone() for p in model.parameters()]
        if scale == 1000.0:
            training.step(loss_scale=scale)
        elif scale == 1.0:
            training.step()
        else:
            training.step(scale)
        for index, right in enumerate(wanted):
            mine = seen[index]
            of = f"the gradient of master {index} in step({scale:g}) with {dtype}"
            expect_equal(mine.dtype, torch.float32, f"the dtype of {of}")
            # every number by itself, and not by the largest: small ones must keep their digits
            off = ((mine - right).abs() > 2.0**-22 * right.abs()).sum().item()
            expect_that(
                off == 0,
                f"wrong values in {of}",
                yours=f"{off} of {right.numel()} wrong by more than float32 is",
            )
        for p, was in zip(model.parameters(), held, strict=True):
            expect_equal(p.grad, was, f"`.grad` of the model after step({scale:g})")
        seen.clear()
        expect_follows(training, model, exact, f"step({scale:g}) in {dtype}")


def test_gradients_of_now(answer, gen):
    """A step uses what `.grad` holds now, adds nothing up, and leaves it as it is, also inf and NaN."""
    model = network(gen)
    exact = exact_of(model)
    training, other = answer.MasterWeights(model, MAKERS["SGD"]), MAKERS["SGD"](exact)
    give(gen, model)
    for number in range(3):
        held = [p.grad for p in model.parameters()]
        values = [g.clone() for g in held]
        exact_step(model, exact, other)
        training.step()
        expect_follows(training, model, exact, f"step {number} with the same gradients")
        for p, was, value in zip(model.parameters(), held, values, strict=True):
            expect_that(p.grad is was, "`.grad` of the model is another object after step()")
            expect_equal(p.grad, value, "`.grad` of the model after step()")
        with torch.no_grad():
            for p in model.parameters():
                p.grad.mul_(0.5)
    first = next(model.parameters())
    first.requires_grad_(False)  # frozen from now on: the others keep their masters
    give(gen, model)
    wanted = [m.detach().clone() for m in training.masters]
    for start, p in zip(wanted, model.parameters(), strict=True):
        start -= 0 if p.grad is None else 0.01 * p.grad.float()
    training.step()
    for index, (master, right) in enumerate(zip(training.masters, wanted, strict=True)):
        when = "after a step in which the first parameter is frozen"
        expect_close(master.detach(), right, f"master {index} {when}", scale=2.0)
    first.requires_grad_(True)
    first.grad = torch.full_like(first, 1.0)
    first.grad[0, 0], first.grad[0, 1] = math.inf, math.nan
    training.step()
    wanted = torch.tensor([-math.inf, math.nan])
    expect_equal(
        training.masters[0].detach()[0, :2], wanted, "a master after a gradient of inf and one of NaN"
    )
    expect_equal(
        first.detach()[0, :2].float(), wanted, "the parameter after a gradient of inf and one of NaN"
    )


@pytest.mark.parametrize("kind", ["SGD with momentum", "AdamW"])
def test_missing_gradients(answer, gen, kind):
    """Where `.grad` is None, momentum and decay leave the parameter alone, also after other steps."""
    model = network(gen)
    exact = exact_of(model)
    training, other = answer.MasterWeights(model, MAKERS[kind]), MAKERS[kind](exact)
    params = list(model.parameters())
    for number, skip in enumerate([(1,), (0, 2), (), (0, 1, 2, 3, 4, 5, 6), (5,)]):
        training.zero_grad()
        expect_that(all(p.grad is None for p in params), "zero_grad() leaves a gradient in the model")
        give(gen, model)
        for index in skip:
            params[index].grad = None
        exact_step(model, exact, other)
        before = [p.detach().clone() for p in params]
        training.step()
        expect_follows(training, model, exact, f"step {number}, where {skip} have no gradient")
        for index in skip:
            expect_equal(params[index].detach(), before[index], f"parameter {index} without a gradient")
            expect_that(params[index].grad is None, f"parameter {index} has got a gradient in step()")


class Shrinking(torch.optim.SGD):
    """Halves all parameters, with gradients or without."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.mul_(0.5)


def test_moved_without_gradients(answer, gen):
    """Each parameter is its master after a step, also where an optimizer moves what has no gradient."""
    model = network(gen)
    exact = exact_of(model)
    training, other = answer.MasterWeights(model, Shrinking), Shrinking(exact)
    give(gen, model)
    next(model.parameters()).grad = None
    for number in range(2):
        exact_step(model, exact, other)
        training.step()
        expect_follows(training, model, exact, f"step {number}, which halves all masters")


def test_same_parameters(answer, gen):
    """Parameters stay the same leaves, in their memory; frozen ones and buffers stay as they are."""
    model = network(gen)
    model[2].weight.requires_grad_(False)
    model.register_buffer("mean", torch.full((2,), 1.001))
    frozen = model[2].weight.detach().clone()
    params = list(model.parameters())
    facts = [(p.dtype, p.requires_grad) for p in params]
    places = [p.data_ptr() for p in params]
    view = model[0].weight.detach()[1]  # sees what is written into that memory
    training = answer.MasterWeights(model, MAKERS["AdamW"])
    for _ in range(2):
        give(gen, model)
        training.step()
    training.load_state_dict(copy.deepcopy(training.state_dict()))
    for p, now, fact, place in zip(params, model.parameters(), facts, places, strict=True):
        expect_that(p is now, "a parameter of the model is another object")
        expect_equal((p.dtype, p.requires_grad), fact, "(dtype, requires_grad) of a parameter")
        expect_that(
            p.data_ptr() == place,
            f"a parameter in {p.dtype} lies in other memory after a step, or after loading",
            wanted="new values written into the memory that it had",
        )
        expect_that(p.is_leaf, "a parameter of the model carries a graph")
    expect_equal(view, model[0].weight.detach()[1], "a view of a parameter after two steps")
    expect_equal(model[2].weight.detach(), frozen, "a frozen parameter after two steps")
    expect_equal(model.mean, torch.full((2,), 1.001), "a buffer after two steps")
    expect_that(all(m.is_leaf for m in training.masters), "a master carries a graph")
    model[2].weight.grad = held = torch.ones_like(model[2].weight)
    training.zero_grad()
    expect_that(model[2].weight.grad is held, "zero_grad() takes the `.grad` of a frozen parameter away")


def test_shared_parameter(answer, gen):
    """A parameter that two layers share has one master, and moves once."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)).to(torch.bfloat16)
    model[2].weight = model[0].weight
    exact = exact_of(model)
    training, other = answer.MasterWeights(model, MAKERS["SGD"]), MAKERS["SGD"](exact)
    for number in range(2):
        training.zero_grad()
        model(torch.randn(4, 3, generator=gen).bfloat16()).float().square().mean().backward()
        exact_step(model, exact, other)
        training.step()
        expect_follows(training, model, exact, f"step {number} with a shared parameter")
    expect_that(model[0].weight is model[2].weight, "the two layers share their weight no more")


def test_gradients_of_their_own(answer, gen):
    """A hook that clips the masters' gradients in place leaves those of the model as they are."""
    for dtype in (torch.float32, torch.bfloat16):
        model = network(gen, dtype)
        training = answer.MasterWeights(model, MAKERS["SGD"])

        def clip(optimizer, args, kwargs):
            torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1e-3)

        training.optimizer.register_step_pre_hook(clip)
        give(gen, model)
        before = [p.grad.clone() for p in model.parameters()]
        training.step()
        for index, (p, was) in enumerate(zip(model.parameters(), before, strict=True)):
            expect_equal(p.grad, was, f"the gradient of parameter {index} in {dtype} after step()")


def test_groups_and_schedulers(answer, gen):
    """Groups that make_optimizer builds, and learning rates that a scheduler sets, count."""
    model = network(gen)
    exact = exact_of(model)

    def make(masters):
        return torch.optim.SGD([{"params": masters[2:], "lr": 0.3}, {"params": masters[:2]}], lr=0.02)

    training, other = answer.MasterWeights(model, make), make(exact)
    schedules = [torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.5) for o in (training.optimizer, other)]
    for number in range(3):
        give(gen, model, 0.1)
        exact_step(model, exact, other)
        training.step()
        for schedule in schedules:
            schedule.step()
        expect_follows(training, model, exact, f"step {number} with two groups and a StepLR")


def test_two_models(answer, gen):
    """Two trainings at once share nothing."""
    models = [network(gen), network(gen, torch.float16)]
    exacts = [exact_of(model) for model in models]
    trainings = [answer.MasterWeights(model, MAKERS["AdamW"]) for model in models]
    others = [MAKERS["AdamW"](exact) for exact in exacts]
    for number in (0, 1, 1, 0, 1):
        give(gen, models[number])
        exact_step(models[number], exacts[number], others[number])
        trainings[number].step()
        for training, model, exact in zip(trainings, models, exacts, strict=True):
            expect_follows(training, model, exact, "a step of one of two trainings")


def test_trains(answer, gen):
    """A bfloat16 model that is trained by way of masters learns what it would not learn alone."""
    x = torch.randn(64, 3, generator=gen)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 3.0
    model = nn.Linear(3, 1, dtype=torch.bfloat16)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    training = answer.MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=0.02))
    for _ in range(250):
        training.zero_grad()
        loss = (model(x.bfloat16()).float() - y).square().mean()
        (loss * 4.0).backward()
        training.step(loss_scale=4.0)
    # a weight is rounded to at most 2⁻⁸ of its size, as is each product: the error stays around 0.01 · |y|
    expect_that(
        loss.item() < 1e-3 * float(y.square().mean()),
        "the loss of a linear model stays high",
        yours=f"{loss.item():.3g}",
        wanted=f"below {1e-3 * float(y.square().mean()):.3g}",
    )


@pytest.mark.parametrize("kind", ["SGD with momentum", "AdamW"])
def test_goes_on_as_if_it_had_not_stopped(answer, gen, kind):
    """A run that is saved, and loaded into a new model, goes on to the same masters."""
    model = network(gen)
    training = answer.MasterWeights(model, MAKERS[kind])
    for _ in range(3):
        give(gen, model)
        training.step()
    for group in training.optimizer.param_groups:
        group["lr"] *= 0.25  # as a scheduler does; the new optimizer does not know of it
    file = io.BytesIO()
    torch.save(training.state_dict(), file)
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    expect_equal(type(saved["masters"]).__name__, "list", "the type of state_dict()['masters']")
    kept = [value.detach().clone() for value in saved["masters"]]
    expect_equal(len(kept), len(training.masters), "the number of masters in the state dict")
    for value, master in zip(kept, training.masters, strict=True):
        expect_equal(value, master.detach(), "a master in the state dict")

    fresh = network(gen)
    resumed = answer.MasterWeights(fresh, MAKERS[kind])
    given = copy.deepcopy(saved)
    resumed.load_state_dict(given)
    expect_equal(sorted(given), ["masters", "optimizer"], "the entries of a state dict that was loaded")
    for p, right in zip(fresh.parameters(), model.parameters(), strict=True):
        expect_equal(
            p.detach(), right.detach(), "a parameter of the model after load_state_dict, before any step"
        )
    give(gen, fresh)
    resumed.step()  # what it has learned so far is thrown away
    masters, optimizer = list(resumed.masters), resumed.optimizer
    resumed.load_state_dict(saved)
    same = all(now is was for now, was in zip(resumed.masters, masters, strict=True))
    expect_that(
        same and resumed.optimizer is optimizer, "masters or optimizer are other objects after loading"
    )
    for p, right in zip(fresh.parameters(), model.parameters(), strict=True):
        expect_equal(p.detach(), right.detach(), "a parameter of the model after load_state_dict")
    for _ in range(3):
        give(gen, model)
        for p, right in zip(fresh.parameters(), model.parameters(), strict=True):
            p.grad = right.grad.clone()
        training.step()
        resumed.step()
        for mine, right in zip(resumed.masters, training.masters, strict=True):
            expect_close(mine.detach(), right.detach(), "a master of the run that goes on", ulps=4)
        for p, right in zip(fresh.parameters(), resumed.masters, strict=True):
            expect_equal(p.detach(), right.detach().to(p.dtype), "a parameter of the run that goes on")
    for value, was in zip(saved["masters"], kept, strict=True):
        expect_equal(value.detach(), was, "a master in the dict that was loaded, after further steps")


def check_there(answer, gen, where):
    """Steps of models in both dtypes on the device `where`."""
    for dtype in DTYPES:
        model = network(gen, dtype).to(where)
        exact = exact_of(model)
        training, other = answer.MasterWeights(model, MAKERS["SGD"]), MAKERS["SGD"](exact)
        for _ in range(2):
            give(gen, model, 1e-3)
            exact_step(model, exact, other, 16.0)
            training.step(16.0)
            expect_follows(training, model, exact, f"a step in {dtype} on another device")
        for master in training.masters:
            kind = torch.device(where).type
            expect_equal(master.device.type, kind, "the device of a master")


def test_on_a_device(answer, gen, device):
    """On another device masters are there too, nothing is copied from or to the host, nobody waits."""
    check_there(answer, gen, device)
    model = network(gen).to(device)
    training = answer.MasterWeights(model, MAKERS["SGD"])
    expect_that(all(is_simulated(m) for m in training.masters), "a master is not on the model's device")
    give(gen, model)
    with count_traffic() as traffic:
        training.step(8.0)
    expect_no_traffic(traffic, "step(…)", waits=True)


@pytest.mark.gpu
def test_on_a_gpu(answer, gen):
    """On a GPU the steps are the same."""
    check_there(answer, gen, "cuda")


def oracle(answer, gen):
    results = []
    for dtype in DTYPES:
        model = network(gen, dtype)
        training = answer.MasterWeights(model, MAKERS["AdamW"])
        for scale in (1.0, 256.0):
            give(gen, model)
            training.step(scale)
            results += [m.detach().clone() for m in training.masters]
            results += [p.detach().clone() for p in model.parameters()]
        results.append(len(training.state_dict()["masters"]))
    return results
