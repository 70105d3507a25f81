"""What grades scaled_step: norm and step at every scale, overflow, underflow, the scaler, groups, devices."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, tolerance, unchanged
from grader.checks.cost.precision import compute_dtypes, expect_all_in, expect_products_in

CALL = "scaled_step(model, loss_fn, optimizer, scaler, inputs, targets, max_norm)"
OPTIMIZERS = {
    "SGD": lambda params: torch.optim.SGD(params, lr=0.1),
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda params: torch.optim.AdamW(params, lr=0.05),
}


class Network(nn.Module):
    """3 features, 8 hidden units, 2 outputs; records how it is run."""

    def __init__(self, gen):
        super().__init__()
        self.first, self.last = nn.Linear(3, 8), nn.Linear(8, 2)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(0.3 * torch.randn(p.shape, generator=gen))
        self.computed = []

    def forward(self, x):
        with compute_dtypes() as seen:
            out = self.last(self.first(x).tanh())
        self.computed.append(seen)
        return out


def batch(gen, size=5):
    return torch.randn(size, 3, generator=gen), torch.randn(size, 2, generator=gen)


def scaler_of(scale=64.0, where="cpu", **options):
    return torch.amp.GradScaler(where, init_scale=scale, **options)


def gradients_of(model, params, loss_fn, inputs, targets, scale=64.0):
    """The loss and the unscaled gradients of `params`, with None where there is none."""
    with torch.autocast(inputs.device.type, dtype=torch.float16):
        predictions = model(inputs)
    loss = loss_fn(predictions.float(), targets)
    gradients = torch.autograd.grad(loss * scale, params, allow_unused=True)
    return loss.item(), [None if g is None else g / scale for g in gradients]


def norm_of(gradients):
    return math.sqrt(sum(float(g.double().square().sum()) for g in gradients if g is not None))


def reference_step(model, params, loss_fn, optimizer, inputs, targets, max_norm):
    """The loss and the norm of a clipped step, with the gradients put into `.grad` by hand."""
    loss, gradients = gradients_of(model, params, loss_fn, inputs, targets)
    norm = norm_of(gradients)
    factor = min(1.0, max_norm / norm)
    for p, g in zip(params, gradients, strict=True):
        p.grad = None if g is None else g * factor
    optimizer.step()
    return loss, norm


def expect_numbers(yours, loss, norm, call):
    expect_equal([type(x).__name__ for x in yours], ["float", "float"], f"the types in {call}")
    for what, number, wanted in (("loss", yours[0], loss), ("norm", yours[1], norm)):
        close = math.isclose(number, wanted, rel_tol=1e-5)
        expect_that(
            close, f"wrong {what} from {call}", yours=f"{number:.6g}", wanted=f"{wanted:.6g}, not scaled"
        )


def expect_weights(model, twin, when):
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_close(p.detach().cpu(), right.detach().cpu(), f"{name} after {when}", scale=4.0)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_and_norms(answer, gen, kind):
    """Losses, norms and weights are those of clipping the unscaled gradients, step by step."""
    model = Network(gen)
    twin = copy.deepcopy(model)
    optimizer, other = OPTIMIZERS[kind](model.parameters()), OPTIMIZERS[kind](twin.parameters())
    scaler = scaler_of(growth_interval=3)
    for number, share in enumerate((0.1, 0.5, 2.0, math.inf, 0.9)):
        inputs, targets = batch(gen, size=number + 1)
        params = list(twin.parameters())
        bound = share * norm_of(gradients_of(twin, params, F.mse_loss, inputs, targets)[1])
        wanted = reference_step(twin, params, F.mse_loss, other, inputs, targets, bound)
        with unchanged(CALL, inputs=inputs, targets=targets):
            yours = answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets, bound)
        expect_numbers(yours, *wanted, f"step {number} of scaled_step(…, max_norm={bound:.3g}) with {kind}")
        expect_weights(model, twin, f"step {number} with {kind} and max_norm={bound:.3g}")


def test_default_bound(answer, gen):
    """Without max_norm the bound is 1."""
    model, (inputs, targets) = Network(gen), batch(gen)
    twin = copy.deepcopy(model)
    optimizer = OPTIMIZERS["SGD"](twin.parameters())
    wanted = reference_step(twin, list(twin.parameters()), F.mse_loss, optimizer, inputs, targets, 1.0)
    yours = answer.scaled_step(
        model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), scaler_of(), inputs, targets
    )
    expect_numbers(yours, *wanted, "scaled_step(…) without max_norm")
    expect_weights(model, twin, "scaled_step(…) without max_norm")
    flat = (lambda p, t: (p * 0).sum()), OPTIMIZERS["SGD"](model.parameters()), scaler_of(), inputs, targets
    call = "(loss, norm) of scaled_step(…) where loss and gradients are 0"
    expect_equal(answer.scaled_step(model, *flat), (0.0, 0.0), call)
    expect_weights(model, twin, "scaled_step(…) where all gradients are 0")


@pytest.mark.parametrize("scale", [1.0, 2.0**8, 2.0**11, 0.25], ids=str)
def test_every_scale(answer, gen, scale):
    """Loss, norm and step do not depend on the scale."""
    model, (inputs, targets) = Network(gen), batch(gen)
    twin = copy.deepcopy(model)
    optimizer = OPTIMIZERS["SGD"](twin.parameters())
    wanted = reference_step(twin, list(twin.parameters()), F.mse_loss, optimizer, inputs, targets, 2.0)
    yours = answer.scaled_step(
        model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), scaler_of(scale), inputs, targets, 2.0
    )
    expect_numbers(yours, *wanted, f"scaled_step(…) with a scale of {scale:g}")
    expect_weights(model, twin, f"scaled_step(…) with a scale of {scale:g}")


def test_beside_float64(answer, gen):
    """The step is that of a run in float64, up to a few roundings in float16."""
    model, (inputs, targets) = Network(gen), batch(gen)
    exact = copy.deepcopy(model).double()
    params = list(exact.parameters())
    loss = F.mse_loss(exact(inputs.double()), targets.double())
    gradients = torch.autograd.grad(loss, params)
    norm = norm_of(gradients)
    starts = [p.detach().clone() for p in params]
    # Weights, inputs, units, predictions and gradients are rounded once each, to half a unit: six roundings.
    rtol, _ = tolerance(torch.ones(()), dtype=torch.float16, ulps=3.0)
    yours = answer.scaled_step(
        model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), scaler_of(), inputs, targets, 0.5 * norm
    )
    for what, number, right in (("loss", yours[0], loss.item()), ("norm", yours[1], norm)):
        expect_that(
            abs(number - right) <= rtol * max(1.0, right),
            f"the {what} from {CALL} is farther from a float64 run than float16 explains",
            yours=f"{number:.6g}",
            wanted=f"{right:.6g}",
        )
    for (name, p), start, g in zip(model.named_parameters(), starts, gradients, strict=True):
        used = (start - p.detach().double()) / (0.1 * 0.5)
        error = (used - g).abs().max().item()
        bound = rtol * max(1.0, float(g.abs().max()))
        expect_that(
            error <= bound,
            f"the gradient of {name} is farther from a float64 run than float16 explains",
            yours=f"off by {error:.3g}",
            wanted=f"by {bound:.3g} at most",
        )


class Product(nn.Module):
    """Returns its weights times the inputs in `dtype`, in which then the gradient flows as well."""

    def __init__(self, dtype):
        super().__init__()
        self.weight, self.dtype = nn.Parameter(torch.tensor([1.0, 2.0])), dtype

    def forward(self, x):
        return (self.weight * x).to(self.dtype)


def test_small_gradients_arrive(answer):
    """A gradient that float16 cannot hold arrives, because it is scaled up on its way; so do large ones."""
    model, loss_fn = Product(torch.float16), lambda p, t: (p * t).sum() * 1e-9
    optimizer = torch.optim.SGD(model.parameters(), lr=1e8)
    inputs, targets = torch.ones(1, 2), torch.tensor([[3.0, 4.0]])
    loss, norm = answer.scaled_step(model, loss_fn, optimizer, scaler_of(2.0**16), inputs, targets)
    # float16 holds 3e-9 · 2¹⁶ and 4e-9 · 2¹⁶ with a relative error of 2⁻¹¹
    expect_that(
        math.isclose(norm, 5e-9, rel_tol=2.0**-10),
        "the norm of gradients that float16 cannot hold without a scale",
        yours=f"{norm:.4g}",
        wanted="5e-09",
    )
    expect_close(
        model.weight.detach(), torch.tensor([0.7, 1.6]), "weights after tiny gradients", ulps=2.0**13
    )
    expect_that(math.isclose(loss, 1.1e-8, rel_tol=1e-3), "the loss of tiny gradients", yours=f"{loss:.4g}")
    model, large = Product(torch.float32), torch.tensor([[3e6, 4e6]])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    args = (lambda p, t: (p * t).sum(), optimizer, scaler_of(1024.0), inputs, large, math.inf)
    yours = answer.scaled_step(model, *args)
    expect_numbers(yours, 11e6, 5e6, "scaled_step(…) with gradients of 3e6 and 4e6")
    wanted = torch.tensor([0.7, 1.6])
    expect_close(model.weight.detach(), wanted, "weights after gradients of 3e6 and 4e6", ulps=8)


def spoiled(how):
    """What makes a gradient inf or NaN: the scale, or the loss."""
    factor = {"overflow": 1.0, "overflow of the scaled loss": 1e3, "inf": math.inf, "nan": math.nan}[how]
    return lambda p, t: F.mse_loss(p, t) * factor


@pytest.mark.parametrize("how", ["overflow", "overflow of the scaled loss", "inf", "nan"])
def test_overflow_skips_the_step(answer, gen, how):
    """Where a gradient is inf or NaN, weights and momentum stay, the norm tells, and the scale backs off."""
    model, (inputs, targets) = Network(gen), batch(gen)
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    scaler = scaler_of(1024.0, backoff_factor=0.25, growth_interval=100)
    answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets)
    expect_equal(scaler.get_scale(), 1024.0, "the scale after a step without overflow")
    if "overflow" in how:
        scaler.update(2.0**30 if how == "overflow" else 2.0**127)
    before, scale = copy.deepcopy((model.state_dict(), optimizer.state_dict())), scaler.get_scale()
    steps = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss, norm = answer.scaled_step(model, spoiled(how), optimizer, scaler, inputs, targets)
    where = f"where a gradient is spoiled ({how})"
    expect_equal(len(steps), 0, f"the number of steps {where}")
    expect_equal(math.isfinite(norm), False, f"the finiteness of the norm {where}")
    expect_equal(math.isfinite(loss), "overflow" in how, f"the finiteness of the loss {where}")
    expect_equal(scaler.get_scale(), scale / 4, f"the scale {where}")
    tracker = scaler.state_dict()["_growth_tracker"]
    expect_equal(tracker, 0, f"the scaler's count of steps since the last overflow, {where}")
    for name, p in model.state_dict().items():
        expect_equal(p, before[0][name], f"{name} {where}")
    expect_equal(optimizer.state_dict()["state"], before[1]["state"], f"the optimizer's state {where}")


def test_gradients_decide(answer, gen):
    """It is the gradients that decide: a loss of inf or NaN with finite gradients is followed by a step."""
    for bad in (math.inf, math.nan):
        model, (inputs, targets) = Network(gen), batch(gen)
        twin = copy.deepcopy(model)
        optimizer, other = OPTIMIZERS["SGD"](model.parameters()), OPTIMIZERS["SGD"](twin.parameters())
        reference_step(twin, list(twin.parameters()), F.mse_loss, other, inputs, targets, 1e6)
        loss_fn = lambda p, t, bad=bad: F.mse_loss(p, t) + bad  # noqa: E731
        loss, norm = answer.scaled_step(model, loss_fn, optimizer, scaler_of(), inputs, targets, 1e6)
        where = f"a step with a loss of {bad} and finite gradients"
        expect_equal(
            (loss, math.isfinite(norm)), (bad, True), f"the loss, and whether the norm is finite, of {where}"
        )
        expect_weights(model, twin, where)


def test_predictions_that_overflow(answer):
    """A prediction beyond float16 is inf, and so is its loss; NaN stays NaN; neither leads to a step."""
    for number, wanted, where in (
        (300.0, math.inf, "where a prediction would be 90000"),
        (math.nan, math.nan, "where a prediction is NaN"),
    ):
        model, inputs = nn.Linear(1, 1, bias=False), torch.tensor([[number]])
        nn.init.constant_(model.weight, 300.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss, norm = answer.scaled_step(model, F.mse_loss, optimizer, scaler_of(), inputs, torch.zeros(1, 1))
        expect_equal(loss, wanted, f"the loss {where}")
        expect_equal(math.isfinite(norm), False, f"the finiteness of the norm {where}")
        expect_equal(model.weight.item(), 300.0, f"the weight {where}")


def test_scale_finds_its_size(answer, gen):
    """From far too large a scale a few calls lead to one that works, and the next step is a right one."""
    model, (inputs, targets) = Network(gen), batch(gen)
    twin = copy.deepcopy(model)
    optimizer, other = OPTIMIZERS["SGD"](model.parameters()), OPTIMIZERS["SGD"](twin.parameters())
    wanted = reference_step(twin, list(twin.parameters()), F.mse_loss, other, inputs, targets, 0.5)
    scaler, calls = scaler_of(2.0**40), 0
    while scaler.get_scale() > 1.0:
        yours = answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets, 0.5)
        calls += 1
        if math.isfinite(yours[1]):
            break
        expect_equal(scaler.get_scale(), 2.0 ** (40 - calls), f"the scale after {calls} calls that overflow")
    expect_numbers(yours, *wanted, "the first call that does not overflow")
    expect_weights(model, twin, "calls that overflow and one that does not")


def test_scaler_is_updated_once(answer, gen):
    """The scaler is updated once in every call: it grows after growth_interval steps."""
    model = Network(gen)
    optimizer = OPTIMIZERS["SGD"](model.parameters())
    scaler = scaler_of(64.0, growth_factor=4.0, growth_interval=3)
    seen = []
    for _ in range(7):
        answer.scaled_step(model, F.mse_loss, optimizer, scaler, *batch(gen), 0.1)
        state = scaler.state_dict()
        seen.append((state["scale"], state["_growth_tracker"]))
    wanted = [(64.0, 1), (64.0, 2), (256.0, 0), (256.0, 1), (256.0, 2), (1024.0, 0), (1024.0, 1)]
    expect_equal(seen, wanted, "(scale, growth tracker) after each of seven calls")


def test_scaler_that_is_off(answer, gen):
    """With a scaler that is switched off, the step is a clipped one without scaling."""
    model, (inputs, targets) = Network(gen), batch(gen)
    twin = copy.deepcopy(model)
    optimizer, other = OPTIMIZERS["SGD"](model.parameters()), OPTIMIZERS["SGD"](twin.parameters())
    scaler = scaler_of(enabled=False)
    for _ in range(2):
        wanted = reference_step(twin, list(twin.parameters()), F.mse_loss, other, inputs, targets, 0.5)
        yours = answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets, 0.5)
        expect_numbers(yours, *wanted, "scaled_step(…) with a scaler that is off")
        expect_weights(model, twin, "scaled_step(…) with a scaler that is off")


def test_what_the_optimizer_holds(answer, gen):
    """One norm over all groups, also with parameters outside the model; what others hold takes no part."""
    model, (inputs, targets) = Network(gen), batch(gen)
    gain = nn.Parameter(torch.tensor(3.0))

    def loss_fn(predictions, targets):
        return F.mse_loss(gain * predictions, targets)

    held = [model.first.weight, model.last.bias, gain]
    loss, gradients = gradients_of(model, held, loss_fn, inputs, targets)
    norm = norm_of(gradients)
    rates = (0.1, 0.2, 0.4)
    wanted = [p.detach() - lr * 0.5 * g for p, lr, g in zip(held, rates, gradients, strict=True)]
    kept = model.last.weight.detach().clone()
    groups = [{"params": [p], "lr": lr} for p, lr in zip(held, rates, strict=True)]
    optimizer, scaler = torch.optim.SGD(groups[:1], lr=1.0), scaler_of()
    answer.scaled_step(model, lambda p, t: 0 * p.sum(), optimizer, scaler, inputs, targets)  # moves nothing
    for group in groups[1:]:
        optimizer.add_param_group(group)
    for p in [*model.parameters(), gain]:
        p.grad = torch.full_like(p, 1000.0)
    yours = answer.scaled_step(model, loss_fn, optimizer, scaler, inputs, targets, 0.5 * norm)
    call = "scaled_step(…) with three groups, two of them new since the last call, and old gradients,"
    expect_numbers(yours, loss, norm, call)
    for p, right, name in zip(held, wanted, ("first.weight", "last.bias", "gain"), strict=True):
        expect_close(p.detach(), right, f"{name} after a step with three groups", scale=4.0)
    expect_equal(model.last.weight.detach(), kept, "a parameter that the optimizer does not hold")


def test_missing_gradients(answer, gen):
    """A parameter that the loss does not depend on has no gradient: momentum and decay leave it alone."""
    model = Network(gen)
    model.extra = nn.Linear(3, 2)
    optimizer = OPTIMIZERS["SGD with momentum"](model.parameters())
    before = copy.deepcopy(model.extra.state_dict())
    scaler = scaler_of()
    for old in (None, 2.0):
        for p in model.extra.parameters():
            p.grad = None if old is None else torch.full_like(p, old)
        answer.scaled_step(model, F.mse_loss, optimizer, scaler, *batch(gen))
        for name, p in model.extra.named_parameters():
            expect_equal(p.detach(), before[name], f"{name} of a layer that the loss does not depend on")


def test_forward_and_loss_stay(answer, gen):
    """The model runs once in float16, loss_fn once in float32, and the optimizer steps once."""
    model, (inputs, targets) = Network(gen), batch(gen)
    losses, steps = [], []

    def loss_fn(predictions, targets):
        with compute_dtypes() as seen:
            loss = (predictions @ predictions.t()).mean() + F.mse_loss(predictions, targets)
        losses.append(seen)
        return loss

    optimizer = OPTIMIZERS["SGD"](model.parameters())
    optimizer.register_step_post_hook(lambda *_: steps.append(torch.is_autocast_enabled("cpu")))
    model.eval()
    model.last.train()
    modes = [module.training for module in model.modules()]
    answer.scaled_step(model, loss_fn, optimizer, scaler_of(), inputs, targets)
    after = [module.training for module in model.modules()]
    expect_equal(after, modes, f"the training flags of the model's modules after {CALL}")
    counts = (len(model.computed), len(losses), len(steps))
    expect_equal(counts, (1, 1, 1), f"the number of times that model, loss_fn and step run in {CALL}")
    expect_products_in(model.computed[0], torch.float16, "the forward pass")
    expect_all_in(losses[0], torch.float32, "loss_fn")
    expect_equal(steps, [False], "the state of autocast (on?) in each optimizer.step")
    expect_equal(torch.is_autocast_enabled("cpu"), False, f"the state of autocast (on?) after {CALL}")


def test_token_numbers(answer, gen):
    """Token and class numbers are passed on as they are."""
    model = nn.Sequential(nn.Embedding(4000, 3), nn.Linear(3, 5))
    twin = copy.deepcopy(model)
    optimizer, other = OPTIMIZERS["SGD"](model.parameters()), OPTIMIZERS["SGD"](twin.parameters())
    tokens, labels = torch.tensor([7, 2049, 3999]), torch.randint(0, 5, (3,), generator=gen)
    wanted = reference_step(twin, list(twin.parameters()), F.cross_entropy, other, tokens, labels, 0.5)
    yours = answer.scaled_step(model, F.cross_entropy, optimizer, scaler_of(), tokens, labels, 0.5)
    expect_numbers(yours, *wanted, "scaled_step(…) with tokens and class numbers")
    expect_weights(model, twin, "a step with tokens and class numbers")


def check_there(answer, gen, where):
    """A clipped step and one that overflows, with model, batch and scaler on the device `where`."""
    model, (inputs, targets) = Network(gen).to(where), batch(gen)
    inputs, targets = inputs.to(where), targets.to(where)
    kind = torch.device(where).type
    twin = copy.deepcopy(model)
    other, optimizer = OPTIMIZERS["SGD"](twin.parameters()), OPTIMIZERS["SGD"](model.parameters())
    loss, gradients = gradients_of(twin, list(twin.parameters()), F.mse_loss, inputs, targets)
    norm = norm_of([g.cpu() for g in gradients])
    for p, g in zip(twin.parameters(), gradients, strict=True):
        p.grad = g * 0.5
    other.step()
    model.computed.clear()
    scaler = scaler_of(1024.0, kind)
    yours = answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets, 0.5 * norm)
    expect_numbers(yours, loss, norm, "scaled_step(…) on another device")
    expect_products_in(model.computed[0], torch.float16, "the forward pass on another device")
    expect_weights(model, twin, "scaled_step(…) on another device")
    scaler.update(2.0**40)
    _, norm = answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets)
    expect_equal(math.isfinite(norm), False, "the finiteness of the norm after an overflow on a device")
    expect_equal(scaler.get_scale(), 2.0**39, "the scale after an overflow on another device")
    expect_weights(model, twin, "an overflow on another device")


def test_on_a_device(answer, gen, device):
    """On another device the step is the same."""
    check_there(answer, gen, device)


@pytest.mark.gpu
def test_on_a_gpu(answer, gen):
    """On a GPU the step is the same."""
    check_there(answer, gen, "cuda")


def oracle(answer, gen):
    results = []
    for bound in (0.5, 1e6):
        model = Network(gen)
        optimizer, scaler = OPTIMIZERS["SGD"](model.parameters()), scaler_of(growth_interval=2)
        for _ in range(3):
            results.append(answer.scaled_step(model, F.mse_loss, optimizer, scaler, *batch(gen), bound))
            results.append(scaler.get_scale())
        results += [p.detach().clone() for p in model.parameters()]
    return results
