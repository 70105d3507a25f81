"""What grades LossScaler: scaled losses, unscaled gradients, skipped steps, the scale, state dicts."""

import copy
import io
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_gradients, expect_raises, expect_that, forbid
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic

SHAPES = [(3, 2), (), (0, 4), (5,)]
KERNELS = ("amp_foreach_non_finite_check_and_unscale", "amp_update_scale")
BAD = [math.inf, -math.inf, math.nan]


def numbers(gen, shape, dtype=torch.float32):
    return torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)


def parameters(gen, shapes=SHAPES, dtype=torch.float32, where="cpu"):
    """Leaves with gradients."""
    params = [nn.Parameter(numbers(gen, shape, dtype).to(where)) for shape in shapes]
    for p in params:
        p.grad = numbers(gen, p.shape, dtype).to(where)
    return params


def momentum(params):
    return torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1)


def iterate(scaler, optimizer, params, value=1.0):
    """One iteration with gradients of `value`; whether the step was taken."""
    for p in params:
        p.grad = torch.full_like(p, value)
    taken = scaler.step(optimizer)
    scaler.update()
    return taken


def largest(x):
    return max(x.flatten().tolist(), default=0.0)


def expect_scale(scaler, wanted, when):
    scale = scaler.get_scale()
    expect_equal(type(scale).__name__, "float", f"the type of scaler.get_scale() {when}")
    close = math.isclose(scale, wanted, rel_tol=1e-6)
    expect_that(close, f"wrong scale {when}", yours=f"{scale:.8g}", wanted=f"{wanted:.8g}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_scaled_loss(answer, gen, dtype):
    """scale(loss) is loss · scale with its graph, in float32 at least: a float16 loss does not overflow."""
    wide = torch.promote_types(dtype, torch.float32)
    for scale in (1024.0, 2.5):
        for value in (100.0, -0.75, 0.0, 0.3):  # 2.5 · 0.3 has more digits than half precision
            scaler, loss = answer.LossScaler(scale), torch.tensor(value, dtype=dtype)
            yours = scaler.scale(loss)
            wanted = torch.tensor(loss.item() * scale, dtype=wide)
            expect_close(yours, wanted, f"LossScaler({scale}).scale(a loss of {value} in {dtype})")
            expect_equal(loss, torch.tensor(value, dtype=dtype), "the loss after scale(loss)")
        x = numbers(gen, (4,), dtype)
        expect_gradients(
            lambda x, scaler=scaler: scaler.scale(x.sum()),
            [x],
            lambda x, scale=scale: x.sum() * scale,
            gen=gen,
            call=f"LossScaler({scale}).scale(loss)",
            names="x",
        )
    large = answer.LossScaler(2.0**17).scale(torch.tensor(-1.5, dtype=dtype))  # float16 has no 2¹⁷
    expect_equal(large, torch.tensor(-1.5 * 2.0**17, dtype=wide), f"LossScaler(2**17).scale(-1.5 in {dtype})")
    same = answer.LossScaler(1.0).scale(torch.tensor(1.5, dtype=dtype))
    expect_equal(same, torch.tensor(1.5, dtype=wide), f"LossScaler(1.0).scale(1.5 in {dtype})")
    for bad in BAD:
        yours = answer.LossScaler(2.0).scale(torch.tensor(bad, dtype=dtype))
        expect_equal(yours, torch.tensor(bad, dtype=wide), f"scale(loss) for a loss of {bad}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_unscaled_gradients(answer, gen, dtype):
    """Gradients are divided in place, up to their dtype's rounding, in all groups; None stays None."""
    info = torch.finfo(dtype)
    for scale in (1024.0, 1000.0 / 3.0, 0.125):
        params = parameters(gen, dtype=dtype)
        params[3].grad = 1e-37 * params[3].grad  # becomes subnormal in float32 and bfloat16
        buffer = numbers(gen, (8,), dtype)
        params += [nn.Parameter(torch.zeros(2, 2, dtype=dtype)), nn.Parameter(torch.ones(3, dtype=dtype))]
        params[4].grad = buffer[:4].view(2, 2).t()
        rest = buffer[4:].clone()
        held = [p.grad for p in params]
        scaler = answer.LossScaler(scale)
        expect_scale(scaler, scale, "at first")  # float32 may round it
        wanted = [None if g is None else g.double() / scaler.get_scale() for g in held]
        values = [p.detach().clone() for p in params]
        optimizer = torch.optim.SGD([{"params": params[:2]}, {"params": params[2:]}], lr=0.1)
        scaler.unscale_(optimizer)
        call = f"LossScaler({scale:g}).unscale_(optimizer)"
        for p, was, right, value in zip(params, held, wanted, values, strict=True):
            of = f"a gradient in {dtype} of shape {tuple(p.shape)} after {call}"
            expect_that(p.grad is was, f"{of} is another object: it must change in place")
            expect_equal(p.detach(), value, f"a parameter itself after {call}")
            if right is None:
                continue
            expect_equal(p.grad.dtype, dtype, f"the dtype of {of}")
            # a rounded quotient, or a product with a rounded reciprocal; below, the subnormals' spacing
            allowed = info.eps * right.abs() + info.smallest_normal * info.eps
            error = (p.grad.double() - right).abs()
            expect_that(
                bool((error <= allowed).all()),
                f"wrong values in {of}",
                yours=f"off by {largest(error):.3g}",
                wanted=f"by {largest(allowed):.3g} at most: a rounding of the quotient, or two",
            )
        inside = buffer[:4].view(2, 2).t()
        expect_equal(inside, params[4].grad, f"the part of a buffer that is a gradient, after {call}")
        expect_equal(buffer[4:], rest, f"the rest of a buffer that holds a gradient, after {call}")


@pytest.mark.parametrize("bad", BAD)
def test_bad_gradients_skip_the_step(answer, gen, bad):
    """A single inf or NaN, in whichever gradient, skips the step: parameters and momentum stay."""
    for dtype in (torch.float32, torch.bfloat16):
        for index, at in ((0, (0, 0)), (0, (2, 1)), (1, ()), (3, (4,))):
            params = parameters(gen, dtype=dtype)
            optimizer = momentum([{"params": params[:2]}, {"params": params[2:]}])
            scaler, steps = answer.LossScaler(16.0), []
            expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) with finite gradients")
            scaler.update()
            optimizer.register_step_pre_hook(lambda *_, steps=steps: steps.append(1))
            params[index].grad[at] = bad
            before = copy.deepcopy((params, optimizer.state_dict()["state"]))
            taken = scaler.step(optimizer)
            where = f"where a gradient of shape {tuple(params[index].shape)} holds {bad}"
            expect_equal(taken, False, f"scaler.step(optimizer) {where}")
            expect_equal(steps, [], f"the steps that the optimizer takes {where}")
            for p, was in zip(params, before[0], strict=True):
                expect_equal(p.detach(), was.detach(), f"a parameter {where}")
            expect_equal(optimizer.state_dict()["state"], before[1], f"the optimizer's state {where}")
            scaler.update()
            expect_scale(scaler, 8.0, where)


def test_large_gradients_are_finite(answer):
    """Gradients near the end of their dtype are finite, although their sum, norm and squares are not."""
    for dtype, size in ((torch.float32, 3e38), (torch.bfloat16, 3e38), (torch.float64, 1.7e308)):
        params = [nn.Parameter(torch.zeros(2, dtype=dtype)) for _ in range(3)]
        optimizer, scaler = torch.optim.SGD(params, lr=1.0), answer.LossScaler(4.0)
        for p in params:
            p.grad = torch.tensor([size, size], dtype=dtype)
        wanted, what = -params[0].grad / 4, f"gradients of {size:g} in {dtype}"
        expect_equal(scaler.step(optimizer), True, f"scaler.step(optimizer) with {what}")
        expect_close(params[2].detach(), wanted, f"a parameter after {what}")
        scaler.update()
        expect_scale(scaler, 4.0, f"after {what}")


def test_unscale_then_step(answer, gen):
    """After unscale_ the step divides no second time, and uses what the caller made of the gradients."""
    params = parameters(gen)
    optimizer, scaler, steps = torch.optim.SGD(params, lr=0.5), answer.LossScaler(32.0), []
    optimizer.register_step_pre_hook(lambda *_: steps.append(1))
    wanted = [p.detach() - 0.5 * 0.1 * p.grad / 32.0 for p in params]
    scaler.unscale_(optimizer)
    for p in params:
        p.grad = p.grad * 0.1
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) after unscale_ and clipping")
    expect_equal(len(steps), 1, "the steps that the optimizer takes")
    for p, right in zip(params, wanted, strict=True):
        expect_close(p.detach(), right, "a parameter after unscale_, clipping and step")
    scaler.update()
    for p in params:
        p.grad = torch.full_like(p, 32.0)
    before = [p.detach().clone() for p in params]
    scaler.step(optimizer)
    for p, was in zip(params, before, strict=True):
        expect_close(p.detach(), was - 0.5, "a parameter after the step of the next iteration")
    scaler.update()
    for loss in (0.25, 0.0):
        optimizer.step = lambda loss=loss: loss  # an optimizer may return anything
        call = f"scaler.step(optimizer), where optimizer.step() returns {loss}"
        expect_equal(scaler.step(optimizer), True, call)
        scaler.update()


def test_what_was_noted_counts(answer, gen):
    """inf that the caller replaces after unscale_ still skips the step; inf that comes later does not."""
    params = parameters(gen)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(32.0)
    params[0].grad[1, 1] = math.inf
    wanted = [p.grad / 32.0 for p in params]
    scaler.unscale_(optimizer)
    for p, right in zip(params, wanted, strict=True):
        expect_close(p.grad, right, "a gradient after unscale_, where one of them holds inf")
        p.grad = torch.ones_like(p)
    expect_equal(scaler.step(optimizer), False, "scaler.step(optimizer), where unscale_ noted inf")
    kept = all(p.grad is not None and bool((p.grad == 1).all()) for p in params)
    expect_that(kept, "scaler.step(optimizer) clears gradients where it takes no step")
    scaler.update()
    expect_scale(scaler, 16.0, "where unscale_ noted inf")
    scaler.unscale_(optimizer)
    params[0].grad[1, 1] = math.inf
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer), where inf came after unscale_")
    scaler.update()
    expect_scale(scaler, 16.0, "where inf came after unscale_")
    params[3].grad = torch.full_like(params[3], math.nan)
    scaler.unscale_(optimizer)
    scaler.update()
    expect_scale(scaler, 8.0, "where unscale_ noted NaN, and no step was tried")


OPTIONS = {
    "defaults": {},
    "short interval": {"growth_interval": 1},
    "other factors": {"init_scale": 96.0, "growth_factor": 1.5, "backoff_factor": 0.25, "growth_interval": 3},
    "near one": {"init_scale": 1000.0, "growth_factor": 1.001, "backoff_factor": 0.9, "growth_interval": 2},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_course_of_the_scale(answer, name):
    """Backs off at inf and NaN, grows after growth_interval good iterations in a row, with all options."""
    options = {"init_scale": 2.0**16, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000}
    options |= OPTIONS[name]
    scaler, p = answer.LossScaler(**OPTIONS[name]), nn.Parameter(torch.zeros(2))
    optimizer, scale, count = torch.optim.SGD([p], lr=0.1), options["init_scale"], 0
    for number, good in enumerate("11101111110010111111111"):
        iterate(scaler, optimizer, [p], 1.0 if good == "1" else BAD[number % 3])
        count = count + 1 if good == "1" else 0
        if good == "0":
            scale *= options["backoff_factor"]
        elif count == options["growth_interval"]:
            scale, count = scale * options["growth_factor"], 0
        expect_scale(scaler, scale, f"after iteration {number} with {name}")
        tracker = scaler.state_dict()["_growth_tracker"]
        expect_equal(tracker, count, f"the count after iteration {number} with {name}")
        scaled = scaler.scale(torch.tensor(3.0))
        expect_close(scaled, torch.tensor(3.0 * scale), f"scale(loss) after iteration {number} with {name}")


def test_after_two_thousand(answer):
    """With the defaults the scale doubles after 2000 good iterations."""
    scaler, p = answer.LossScaler(), nn.Parameter(torch.zeros(1))
    p.grad = torch.zeros(1)
    optimizer = torch.optim.SGD([p], lr=0.1)
    scaler.load_state_dict({**scaler.state_dict(), "_growth_tracker": 1998})
    for wanted in (65536.0, 131072.0, 131072.0):
        scaler.step(optimizer)
        scaler.update()
        expect_scale(scaler, wanted, "around 2000 good iterations")


def test_ends_of_the_scale(answer):
    """The scale never grows to what is inf in float32, and backs off below 1."""
    p = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=0.1)
    scaler = answer.LossScaler(2.0**125, growth_interval=1)
    for wanted in (2.0**126, 2.0**127, 2.0**127, 2.0**127):
        iterate(scaler, optimizer, [p])
        expect_scale(scaler, wanted, "at the end of float32")
    iterate(scaler, optimizer, [p], math.inf)
    expect_scale(scaler, 2.0**126, "after an overflow at the end of float32")
    scaler = answer.LossScaler(2.0**126, growth_factor=16.0, growth_interval=2)
    for wanted in (1, 0, 1, 0):
        iterate(scaler, optimizer, [p])
        expect_scale(scaler, 2.0**126, "where growing would end in inf")
        expect_equal(scaler.state_dict()["_growth_tracker"], wanted, "the count where growing ends in inf")
    scaler = answer.LossScaler(1e38, growth_factor=3.0, growth_interval=1)
    for _ in range(2):
        iterate(scaler, optimizer, [p])
        expect_scale(scaler, 3e38, "where float32 holds 3e38, and not 9e38")
    end = torch.finfo(torch.float32).max
    for kind in (torch.float32, torch.float64):
        with default_dtype(kind):
            scaler = answer.LossScaler(end / 2, growth_interval=1)
            for _ in range(2):
                iterate(scaler, optimizer, [p])
                when = f"that can grow to the largest number in float32 exactly, default dtype {kind}"
                expect_scale(scaler, end, when)
    scaler = answer.LossScaler(2.0, backoff_factor=0.25)
    for wanted in (0.5, 0.125, 0.03125):
        iterate(scaler, optimizer, [p], math.nan)
        expect_scale(scaler, wanted, "below 1")
    low = answer.LossScaler(2.0**-125, backoff_factor=2.0**-6)
    iterate(low, optimizer, [p], math.nan)
    expect_scale(low, 2.0**-131, "below the normal numbers of float32")
    resumed = answer.LossScaler()
    resumed.load_state_dict(scaler.state_dict())
    expect_scale(resumed, 0.03125, "of a scaler that has loaded a scale below 1")


def test_two_optimizers(answer, gen):
    """Each optimizer has its own step or skips it; one with inf is enough for the scale to back off."""
    first, second = parameters(gen), parameters(gen)
    a, b = torch.optim.SGD(first, lr=0.5), torch.optim.SGD(second, lr=0.5)
    for order in ((a, b), (b, a)):
        scaler = answer.LossScaler(64.0, growth_interval=2)
        for spoiled, scale in (("", 64.0), ("b", 32.0), ("", 32.0), ("ab", 16.0)):
            for p in [*first, *second]:
                p.grad = torch.ones_like(p)
            for params in ([first] if "a" in spoiled else []) + ([second] if spoiled else []):
                params[0].grad[0, 0] = math.inf
            before = first[0].detach().clone()
            results = {id(optimizer): scaler.step(optimizer) for optimizer in order}
            what = f"with {spoiled or 'none'} spoiled of two optimizers a and b"
            expect_equal(results[id(a)], "a" not in spoiled, f"scaler.step(a) {what}")
            expect_equal(results[id(b)], not spoiled, f"scaler.step(b) {what}")
            stays = torch.equal(first[0].detach(), before)
            kept = "a parameter of a moves" if "a" in spoiled else "no step of a is taken"
            expect_that(stays == ("a" in spoiled), f"{kept} {what}")
            scaler.update()
            expect_scale(scaler, scale, what)
            expect_equal(
                scaler.state_dict()["_growth_tracker"], int(not spoiled), "the count with two optimizers"
            )


def test_two_scalers(answer):
    """Two scalers share nothing, also where they work on one optimizer."""
    p = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=0.1)
    one, other = answer.LossScaler(8.0, growth_interval=2), answer.LossScaler(512.0, backoff_factor=0.125)
    p.grad = torch.tensor([math.inf])
    one.unscale_(optimizer)
    p.grad = torch.ones(1)
    expect_equal(other.step(optimizer), True, "the step of a scaler, where another one noted inf")
    other.update()
    expect_scale(other, 512.0, "of a scaler, where another one noted inf")
    one.update()
    expect_scale(one, 4.0, "of a scaler that noted inf, where another one was updated since")
    iterate(other, optimizer, [p], math.nan)
    expect_scale(other, 64.0, "after NaN, with a second scaler")
    expect_scale(one, 4.0, "after NaN with another scaler")


def test_beside_pytorch(answer, gen):
    """Scales, weights and state dicts follow those of torch.amp.GradScaler through many iterations."""
    options = {"init_scale": 2.0**12, "growth_interval": 2}
    yours, wanted = answer.LossScaler(**options), torch.amp.GradScaler("cpu", **options)
    params = parameters(gen)
    twins = [nn.Parameter(p.detach().clone()) for p in params]
    optimizer, other = momentum(params), momentum(twins)
    for number in range(25):
        size = 10.0 ** float(33 + 4 * torch.randn((), generator=gen))  # with the scale it often overflows
        for scaler, opt, ps in ((yours, optimizer, params), (wanted, other, twins)):
            opt.zero_grad()
            draws = torch.Generator().manual_seed(number)
            loss = sum((p * torch.randn(p.shape, generator=draws)).sum() for p in ps) * 1e-3
            scaler.scale(loss * size).backward()
            scaler.unscale_(opt)
            for p in ps:
                p.grad.mul_(1.0 / size)
            scaler.step(opt)
            scaler.update()
        for p, twin in zip(params, twins, strict=True):
            expect_close(p.detach(), twin.detach(), f"a parameter after iteration {number}", scale=1.0)
        expect_equal(yours.state_dict(), wanted.state_dict(), f"state_dict() after iteration {number}")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_small_gradients_arrive(answer, gen, dtype):
    """Gradients too small for float16 arrive as in a float64 run, up to roundings in that dtype."""
    weight, x = nn.Parameter(numbers(gen, (6,))), numbers(gen, (6,))
    start, exact = weight.detach().double(), x.double() * 1e-9
    optimizer, scaler = torch.optim.SGD([weight], lr=1e9), answer.LossScaler(2.0**16)
    loss = (weight.to(dtype) * x.to(dtype)).sum(dtype=torch.float32) * 1e-9
    scaler.scale(loss).backward()
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) with small gradients")
    error = (weight.detach().double() - (start - 1e9 * exact)).abs()
    # x, the cotangent and their product are rounded to half a unit each; the update itself to float32
    info = torch.finfo(dtype)
    subnormal = info.smallest_normal * info.eps / 2.0**16
    allowed = 1.6 * info.eps * x.double().abs() + 1e9 * subnormal + 2.0**-22 * (start.abs() + x.abs())
    expect_that(
        bool((error <= allowed).all()),
        f"gradients in {dtype} are farther from a float64 run than its rounding explains",
        yours=f"off by {largest(error):.3g}",
        wanted=f"by {largest(allowed):.3g} at most",
    )


def test_out_of_turn(answer, gen):
    """Unscaling or stepping twice in an iteration raises RuntimeError, and no gradient changes."""

    def refused(scaler, method, when):
        before = [p.grad.clone() for p in params], [p.detach().clone() for p in params]
        call = f"scaler.{method}(optimizer) {when}"
        expect_raises(RuntimeError, lambda: getattr(scaler, method)(optimizer), call)
        for p, gradient, value in zip(params, *before, strict=True):
            expect_equal(p.grad, gradient, f"a gradient after {call}")
            expect_equal(p.detach(), value, f"a parameter after {call}")

    params = parameters(gen)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(4.0)
    for _ in range(2):
        scaler.unscale_(optimizer)
        refused(scaler, "unscale_", "after unscale_")
        expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) after unscale_, twice tried")
        refused(scaler, "unscale_", "after step")
        refused(scaler, "step", "after step")
        scaler.update()
    params[0].grad[0, 0] = math.nan
    scaler.step(optimizer)
    params[0].grad[0, 0] = 1.0
    refused(scaler, "step", "after a step that was skipped")
    refused(scaler, "unscale_", "after a step that was skipped")
    scaler.update()
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) after update")
    scaler.update()
    for _ in range(2):
        scaler.unscale_(optimizer)
        scaler.update()  # the caller has decided against this step
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) after iterations without a step")


def test_nothing_to_unscale(answer):
    """An optimizer none of whose parameters has a gradient steps like another, and the iteration is good."""
    scaler = answer.LossScaler(4.0, growth_interval=2)
    idle = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
    expect_equal(scaler.step(idle), True, "step(optimizer) where every gradient is None")
    scaler.update()
    count = scaler.state_dict()["_growth_tracker"]
    expect_equal(count, 1, "the count of good iterations after one where every gradient is None")
    expect_scale(scaler, 4.0, "after an iteration where every gradient is None")


def test_half_gradients(answer, gen):
    """float16 gradients raise ValueError, wherever they are, in unscale_ and in step."""
    for index in (0, 1):
        for method in ("unscale_", "step"):
            params = parameters(gen, [(2,), (3,)])
            params[index] = parameters(gen, [(2,)], torch.float16)[0]
            optimizer, scaler = (
                torch.optim.SGD([{"params": [p]} for p in params], lr=0.5),
                answer.LossScaler(4.0),
            )
            before = params[index].detach().clone()
            given = [p.grad.clone() for p in params]
            call = f"scaler.{method}(optimizer) with a float16 gradient"
            expect_raises(ValueError, lambda m=method, s=scaler, o=optimizer: getattr(s, m)(o), call)
            expect_equal(params[index].detach(), before, f"a float16 parameter after {call}")
            expect_equal([p.grad for p in params], given, f"the gradients after {call}")
            params[index].grad = None
            expect_equal(scaler.step(optimizer), True, f"scaler.step(optimizer) after the error of {call}")
            other, wanted = params[1 - index].grad, given[1 - index] / 4.0
            expect_close(other, wanted, f"the other gradient, stepped after the error of {call}")


def test_state_dict(answer):
    """A state dict holds five plain numbers, loads into another scaler, and does not change any more."""
    p = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=0.1)
    options = {"init_scale": 96.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 4}
    whole = answer.LossScaler(8, 2, 0.5, 4)
    expect_scale(whole, 8.0, "of LossScaler(8, 2, 0.5, 4)")
    kinds = {name: type(number).__name__ for name, number in whole.state_dict().items()}
    wanted = dict.fromkeys(("scale", "growth_factor", "backoff_factor"), "float")
    wanted |= dict.fromkeys(("growth_interval", "_growth_tracker"), "int")
    expect_equal(kinds, wanted, "the types in LossScaler(8, 2, 0.5, 4).state_dict()")
    scaler = answer.LossScaler(**options)
    for value in (math.inf, 1.0, 1.0, 1.0):
        iterate(scaler, optimizer, [p], value)
    state = scaler.state_dict()
    wanted = {
        "scale": 24.0,
        "growth_factor": 3.0,
        "backoff_factor": 0.25,
        "growth_interval": 4,
        "_growth_tracker": 3,
    }
    expect_equal(state, wanted, "scaler.state_dict()")
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    resumed = answer.LossScaler()
    for _ in range(2):
        resumed.load_state_dict(torch.load(file, weights_only=True))
        file.seek(0)
        expect_equal(resumed.state_dict(), wanted, "the state dict of a scaler that has loaded it")
        iterate(resumed, optimizer, [p])
        expect_scale(resumed, 72.0, "of a scaler that has loaded a state dict")
        iterate(resumed, optimizer, [p], math.nan)
        expect_scale(resumed, 18.0, "of a scaler that has loaded a state dict")
    iterate(scaler, optimizer, [p])
    scaler.state_dict()
    expect_equal(state, wanted, "a state dict, after the scaler has gone on")
    resumed.load_state_dict(state)
    iterate(resumed, optimizer, [p])
    expect_equal(state, wanted, "a state dict, after a scaler that loaded it has gone on")


def test_exchange_with_pytorch(answer):
    """torch.amp.GradScaler goes on from its state dict, and it from that of torch.amp.GradScaler."""
    p = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=0.1)
    options = {"init_scale": 96.0, "growth_factor": 4.0, "backoff_factor": 0.125, "growth_interval": 2}
    makers = (answer.LossScaler, lambda **kw: torch.amp.GradScaler("cpu", **kw))
    for make, other in (makers, makers[::-1]):
        first, second = make(**options), other()
        first.scale(torch.tensor(1.0))  # GradScaler needs it before the first step
        iterate(first, optimizer, [p])
        second.load_state_dict(first.state_dict())
        second.scale(torch.tensor(1.0))
        for value, wanted in ((1.0, 384.0), (math.inf, 48.0), (1.0, 48.0), (1.0, 192.0)):
            iterate(second, optimizer, [p], value)
            expect_scale(second, wanted, "after a state dict went from one class to the other")


def test_own_computation(answer, gen):
    """The scaling is computed here, not by GradScaler's kernels."""
    params = parameters(gen)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(4.0)
    with forbid("LossScaler", *KERNELS):
        scaler.scale(torch.tensor(1.0))
        scaler.step(optimizer)
        scaler.update()


@pytest.mark.parametrize(
    "options",
    [
        {"init_scale": 0.0},
        {"init_scale": -1.0},
        {"init_scale": math.inf},
        {"init_scale": math.nan},
        {"growth_factor": 1.0},
        {"growth_factor": 0.5},
        {"growth_factor": math.nan},
        {"backoff_factor": 1.0},
        {"backoff_factor": 0.0},
        {"backoff_factor": 2.0},
        {"backoff_factor": -0.5},
        {"backoff_factor": math.nan},
        {"growth_interval": 0},
        {"growth_interval": -3},
    ],
    ids=str,
)
def test_bad_arguments(answer, options):
    """Arguments out of their range raise ValueError."""
    expect_raises(ValueError, lambda: answer.LossScaler(**options), f"LossScaler(**{options})")


def check_there(answer, gen, where):
    """A step, a skipped one and one after unscale_, with parameters on the device `where`."""
    params = parameters(gen, where=where)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(8.0)
    wanted = [(p.detach() - 0.5 * p.grad / 8.0).cpu() for p in params]
    scaled = scaler.scale(torch.tensor(2.0).to(where))
    expect_equal(scaled.cpu(), torch.tensor(16.0), "scale(loss) on another device")
    taken = scaler.step(optimizer)
    scaler.update()
    expect_equal(taken, True, "scaler.step(optimizer) on another device")
    for p, right in zip(params, wanted, strict=True):
        expect_close(p.detach().cpu(), right, "a parameter on another device after scaler.step(optimizer)")
    params[3].grad = torch.full_like(params[3], math.nan)
    expect_equal(scaler.step(optimizer), False, "scaler.step(optimizer) with NaN on another device")
    scaler.update()
    expect_scale(scaler, 4.0, "after NaN on another device")
    for p, right in zip(params, wanted, strict=True):
        expect_close(p.detach().cpu(), right, "a parameter on another device after a skipped step")


def test_on_a_device(answer, gen, device):
    """On another device the scaler works, and makes the host wait once at most in an iteration."""
    check_there(answer, gen, device)
    params = parameters(gen, [(2, 3)] * 6, where=device)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(8.0)
    loss = torch.tensor(2.0).to(device)
    for early in (False, True):
        with count_traffic() as traffic:
            scaler.scale(loss)
            if early:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        expect_that(
            traffic.syncs <= 1,
            "the host waits for the device more than once in an iteration",
            yours=f"{traffic.syncs} times for 6 parameters",
        )


@pytest.mark.gpu
def test_on_a_gpu(answer, gen):
    """On a GPU the scaler works as on the CPU."""
    check_there(answer, gen, "cuda")


def oracle(answer, gen):
    results = []
    scaler = answer.LossScaler(512.0, backoff_factor=0.25, growth_interval=2)
    params = parameters(gen)
    optimizer = momentum(params)
    for value in (1.0, 2.0, math.nan, 3.0, math.inf, 1.0, 1.0):
        results.append(scaler.scale(torch.tensor(value, dtype=torch.float16)))
        results.append(iterate(scaler, optimizer, params, value))
        results += [p.detach().clone() for p in params]
        results.append(scaler.state_dict())
    return results
