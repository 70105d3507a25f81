"""What grades scaled_step: steps at every scale, overflow, the scaler; groups, missing gradients, devices."""

import copy
import math
from functools import partial
from operator import mul

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number
from grader.checks.cost.precision import compute_dtypes, expect_products_in
from grader.checks.registered import randomize, state_of

OPTIMIZERS = {
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda params: torch.optim.AdamW(params, lr=0.05),
}
MISTAKES = {
    "the gradients are not clipped": {"bound": math.inf},
    "they are clipped to norm 1, not to max_norm": {"bound": 1.0},
    "too small by the scale: the scaled gradients are clipped, or divided twice": {"factor": 1 / 64.0},
    "the scaled gradients are clipped: unscale before": {"clips_at": 64.0},
    "the gradients are still scaled at the step": {"factor": 64.0},
    "the gradients of earlier steps count": {"clear": False},
}


def network(gen):
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    randomize(model, gen)
    return model


def batches(gen, count):
    return [(torch.randn(5, 3, generator=gen), torch.randn(5, 2, generator=gen)) for _ in range(count)]


def scaler_of(scale=64.0, **options):
    return torch.amp.GradScaler("cpu", init_scale=scale, **options)


def by_hand(start, make, steps, bounds, *, clips_at=1.0, bound=None, factor=1.0, clear=True):
    """Losses, norms and weights of clipped steps without a scaler; or with a mistake."""
    model, results = copy.deepcopy(start), []
    optimizer, params = make(model.parameters()), list(model.parameters())
    for (inputs, targets), max_norm in zip(steps, bounds, strict=True):
        with torch.autocast(inputs.device.type, dtype=torch.float16):
            predictions = model(inputs)
        loss = F.mse_loss(predictions.float(), targets)
        grads = [g / 64 for g in torch.autograd.grad(loss * 64, params)]
        norm = torch.cat([g.flatten() for g in grads]).double().norm().item()
        shrink = min(1.0, (max_norm if bound is None else bound) / (norm * clips_at))
        for p, g in zip(params, grads, strict=True):
            old = 0.0 if clear or p.grad is None else p.grad
            p.grad = old + g * shrink * factor
        optimizer.step()
        results.append((loss.item(), norm))
    return results, state_of(model)


def expect_steps(answer, start, make, steps, share, about, scaler=None):
    """Fail unless losses, norms and weights are those of steps by hand; bounds are `share` of the norms."""
    model, scaler = copy.deepcopy(start), scaler or scaler_of()
    optimizer, bounds, before = make(model.parameters()), [], state_of(model)

    def after(done, name, how):
        return by_hand(start, make, done, bounds, **how)[1][name]

    for number, (inputs, targets) in enumerate(steps, start=1):
        done = steps[:number]
        bounds.append(share * by_hand(start, make, done, [*bounds, math.inf])[0][-1][1])
        results, weights = by_hand(start, make, done, bounds)
        loss, norm = results[-1]
        scale = scaler.get_scale()
        yours = answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets, bounds[-1])
        call = f"step {number} of scaled_step(…, max_norm={bounds[-1]:.3g}) {about}"
        suspects = {"this is the scaled loss": partial(mul, scale, loss)}
        expect_number(yours[0], loss, f"loss from {call}", rtol=1e-5, suspects=suspects)
        suspects = {
            "this is the norm of scaled gradients: unscale before": partial(mul, scale, norm),
            "this is the norm after clipping": partial(min, norm, bounds[-1]),
        }
        expect_number(yours[1], norm, f"norm from {call}", rtol=1e-5, suspects=suspects)
        for name, wanted in weights.items():
            suspects = {told: partial(after, done, name, how) for told, how in MISTAKES.items()}
            options = {"ulps": 100, "scale": 1.0, "before": before[name], "suspects": suspects}
            expect_close(state_of(model)[name], wanted, f"{name} after {call}", **options)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_clipped_steps(answer, gen, kind):
    """Losses, norms and weights of several steps are those of clipping unscaled gradients."""
    expect_steps(answer, network(gen), OPTIMIZERS[kind], batches(gen, 3), 0.5, f"with {kind}")


def test_short_gradients(answer, gen):
    """Gradients that are short enough are used as they are."""
    start, make = network(gen), OPTIMIZERS["SGD with momentum"]
    expect_steps(answer, start, make, batches(gen, 2), 2.0, "where nothing is to be clipped")


@pytest.mark.parametrize("scale", [1.0, 2.0**8], ids=str)
def test_every_scale(answer, gen, scale):
    """Loss, norm and step do not depend on the scale."""
    start, make = network(gen), OPTIMIZERS["SGD with momentum"]
    expect_steps(answer, start, make, batches(gen, 1), 0.5, f"with a scale of {scale:g}", scaler_of(scale))


class Product(nn.Module):
    """Its weights times the inputs, in float16: in which the gradient flows as well."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        return (self.weight * x).half()


def test_small_gradients_arrive(answer):
    """Gradients that float16 cannot hold arrive, because they are scaled up on their way."""
    model, targets = Product(), torch.tensor([[3.0, 4.0]])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e8)
    args = (
        lambda p, t: (p.float() * t).sum() * 1e-9,
        optimizer,
        scaler_of(2.0**16),
        torch.ones(1, 2),
        targets,
    )
    _, norm = answer.scaled_step(model, *args)
    suspects = {"the gradients are 0: nothing scales the loss": lambda: 0.0}
    expect_number(norm, 5e-9, "norm from gradients of 3e-9 and 4e-9", rtol=2e-3, suspects=suspects)
    wanted = torch.tensor([0.7, 1.6])
    expect_close(model.weight.detach(), wanted, "weights after gradients of 3e-9 and 4e-9", ulps=2.0**13)


@pytest.mark.parametrize("how", ["overflow", "nan"])
def test_no_step_after_an_overflow(answer, gen, how):
    """Where a gradient is inf or NaN, weights and momentum stay, and the scale backs off."""
    model, steps = network(gen), []
    (inputs, targets), second = batches(gen, 2)
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    scaler = scaler_of(1024.0, backoff_factor=0.25)
    answer.scaled_step(model, F.mse_loss, optimizer, scaler, inputs, targets)
    loss_fn = F.mse_loss if how == "overflow" else lambda p, t: F.mse_loss(p, t) * math.nan
    if how == "overflow":
        scaler.update(2.0**30)
    before, scale = state_of(model), scaler.get_scale()
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    answer.scaled_step(model, loss_fn, optimizer, scaler, *second)
    where = f"where a gradient is {'inf' if how == 'overflow' else 'NaN'}"
    expect_equal(len(steps), 0, f"the number of steps {where}")
    suspects = {"the scale stays: update the scaler after a skipped step, too": lambda: scale}
    expect_equal(scaler.get_scale(), scale / 4, f"the scale {where}", suspects=suspects)
    for name, p in state_of(model).items():
        expect_equal(p, before[name], f"{name} {where}")


def test_scaler_is_updated_once(answer, gen):
    """The scaler is updated once in every call: it grows after growth_interval steps."""
    model, seen = network(gen), []
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    scaler = scaler_of(64.0, growth_factor=4.0, growth_interval=3)
    for batch in batches(gen, 7):
        answer.scaled_step(model, F.mse_loss, optimizer, scaler, *batch, 0.1)
        seen.append(scaler.get_scale())
    wanted = [64.0, 64.0, 256.0, 256.0, 256.0, 1024.0, 1024.0]
    expect_equal(seen, wanted, "the scale after each of seven calls")


class Watched(nn.Sequential):
    """Records the dtypes in which it computes."""

    def forward(self, x):
        with compute_dtypes() as self.seen:
            return super().forward(x)


def test_float16(answer, gen):
    """The model computes in float16."""
    model = Watched(*network(gen))
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    answer.scaled_step(model, F.mse_loss, optimizer, scaler_of(), *batches(gen, 1)[0])
    expect_products_in(model.seen, torch.float16, "the forward pass")


def groups_of(gen):
    """A model, a gain outside of it, and what an optimizer holds in three groups: not all of the model."""
    model, gain = network(gen), nn.Parameter(torch.tensor([3.0]))
    held = {"0.weight": model[0].weight, "2.bias": model[2].bias, "the gain outside the model": gain}
    return model, held, lambda p, t: F.mse_loss(gain * p, t)


@pytest.mark.fine
def test_what_the_optimizer_holds(answer, gen):
    """The norm is that of what the optimizer holds: all groups, and parameters outside the model."""
    (model, held, loss_fn), (inputs, targets) = groups_of(gen), batches(gen, 1)[0]
    with torch.autocast("cpu", dtype=torch.float16):
        predictions = model(inputs)
    grads = torch.autograd.grad(loss_fn(predictions.float(), targets) * 64, list(held.values()))
    grads = [g / 64 for g in grads]
    norm = torch.cat([g.flatten() for g in grads]).norm().item()
    wanted = [p.detach() - 0.1 * 0.5 * g for p, g in zip(held.values(), grads, strict=True)]
    optimizer = torch.optim.SGD([{"params": [p]} for p in held.values()], lr=0.1)
    yours = answer.scaled_step(model, loss_fn, optimizer, scaler_of(), inputs, targets, 0.5 * norm)
    call = "scaled_step(…) with three groups, one of a parameter outside the model"
    suspects = {"this is the norm of the last group": lambda: grads[-1].norm().item()}
    expect_number(yours[1], norm, f"norm from {call}", rtol=1e-5, suspects=suspects)
    for (name, p), right in zip(held.items(), wanted, strict=True):
        expect_close(p.detach(), right, f"{name} after {call}", ulps=100, scale=4.0)


@pytest.mark.fine
def test_old_gradients(answer, gen):
    """Numbers that lie in `.grad` before the first call have no influence."""
    model, held, _ = groups_of(gen)
    optimizer = torch.optim.SGD(held.values(), lr=0.1)
    for p in held.values():
        p.grad = torch.full_like(p, 1000.0)
    flat = lambda p, t: 0 * p.sum()  # noqa: E731
    _, norm = answer.scaled_step(model, flat, optimizer, scaler_of(), *batches(gen, 1)[0])
    suspects = {
        "the old numbers count: clear before the backward": lambda: (
            1000 / 64 * sum(p.numel() for p in held.values()) ** 0.5
        )
    }
    expect_number(norm, 0.0, "norm of a flat loss, with numbers in `.grad` before", suspects=suspects)


class Sometimes(nn.Module):
    """tanh, plus a parameter where it is switched on."""

    def __init__(self):
        super().__init__()
        self.extra, self.on = nn.Parameter(torch.ones(8)), True

    def forward(self, x):
        return x.tanh() + self.extra if self.on else x.tanh()


@pytest.mark.fine
def test_missing_gradients(answer, gen):
    """A parameter that the loss does not depend on has no gradient: momentum and decay leave it alone."""
    model, scaler = network(gen), scaler_of()
    model[1] = Sometimes()
    optimizer = OPTIMIZERS["SGD with momentum"](model.parameters())
    first, second = batches(gen, 2)
    answer.scaled_step(model, F.mse_loss, optimizer, scaler, *first)
    model[1].on, before = False, state_of(model[1])
    answer.scaled_step(model, F.mse_loss, optimizer, scaler, *second)
    where = "a parameter that the loss does not depend on in this step"
    expect_equal(state_of(model[1]), before, where)


@pytest.mark.fine
def test_scaler_that_is_off(answer, gen):
    """With a scaler that is switched off, the step is a clipped one without scaling."""
    start, make = network(gen), OPTIMIZERS["SGD with momentum"]
    off = scaler_of(enabled=False)
    expect_steps(answer, start, make, batches(gen, 2), 0.5, "with a scaler that is off", off)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """On another device the model computes in float16 there, and the norm is the same."""
    start, batch = network(gen), batches(gen, 1)[0]
    _, norm = by_hand(start, OPTIMIZERS["AdamW"], [batch], [0.5])[0][0]
    model = Watched(*copy.deepcopy(start)).to(device)
    scaler = torch.amp.GradScaler(device.type, init_scale=64.0)
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    there = [part.to(device) for part in batch]
    yours = answer.scaled_step(model, F.mse_loss, optimizer, scaler, *there, 0.5)
    # the order of sums may differ there: float16 has three digits
    expect_number(yours[1], norm, "norm from scaled_step(…) on another device", rtol=5e-3)
    expect_products_in(model.seen, torch.float16, "the forward pass on another device")


def oracle(answer, gen):
    def trained(gen, kind, bound, count, scale=64.0, overflows=None):
        """The losses, the norms, and the scale and the parameters afterwards."""
        model, scaler = network(gen), scaler_of(scale, growth_interval=2, backoff_factor=2.0**-24)
        optimizer, losses, norms = OPTIMIZERS[kind](model.parameters()), [], []
        for number, batch in enumerate(batches(gen, count)):
            if number == overflows:
                scaler.update(2.0**32)
            loss, norm = answer.scaled_step(model, F.mse_loss, optimizer, scaler, *batch, bound)
            losses.append(loss)
            norms.append(0.0 if number == overflows else norm)
        return losses, norms, scaler.get_scale(), [p.detach() for p in model.parameters()]

    sgd, adamw = "SGD with momentum", "AdamW"
    return {
        "the losses of three steps that need no clipping": lambda gen: trained(gen, sgd, 1e6, 3)[0],
        "the norms of three steps that need no clipping": lambda gen: trained(gen, sgd, 1e6, 3)[1],
        "three steps of SGD with momentum that need no clipping": lambda gen: trained(gen, sgd, 1e6, 3)[3],
        "the norm of a clipped step": lambda gen: trained(gen, sgd, 0.5, 1)[1],
        "three clipped steps of SGD with momentum": lambda gen: trained(gen, sgd, 0.5, 3)[3],
        "three clipped steps of AdamW": lambda gen: trained(gen, adamw, 0.5, 3, 512.0)[3],
        "three steps of AdamW, the second of which overflows": lambda gen: trained(
            gen, adamw, 0.5, 3, 512.0, 1
        )[2:],
    }
