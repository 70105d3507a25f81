"""What grades LossScaler: the course of the scale, skipped steps, unscaling; precision, order, exchange."""

import copy
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_number, expect_raises, expect_that, forbid
from grader.checks.devices import count_traffic

KERNELS = ("amp_foreach_non_finite_check_and_unscale", "amp_update_scale")
BAD = [math.inf, -math.inf, math.nan]
OPTIONS = {"init_scale": 6144.0, "growth_factor": 4.0, "backoff_factor": 0.125, "growth_interval": 3}


def parameters(gen, shapes=((3, 2), (), (5,)), where="cpu"):
    """Leaves with gradients."""
    params = [nn.Parameter(torch.randn(shape, generator=gen).to(where)) for shape in shapes]
    for p in params:
        p.grad = torch.randn(p.shape, generator=gen).to(where)
    return params


def momentum(params):
    """In two groups."""
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.2}]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=0.1)


def expect_scales(yours, wanted, call, suspects):
    made = {told: lambda scales=scales: torch.tensor(scales) for told, scales in suspects.items()}
    expect_equal(torch.tensor(yours), torch.tensor(wanted), f"scales {call}", dims="iteration", suspects=made)


def run(scaler, values):
    """The scale after iterations with gradients of these values."""
    p, seen = nn.Parameter(torch.zeros(2)), []
    optimizer = torch.optim.SGD([p], lr=0.1)
    for value in values:
        p.grad = torch.tensor([1.0, value])
        scaler.step(optimizer)
        scaler.update()
        seen.append(scaler.get_scale())
    return seen


def course(values, init_scale, growth_factor, backoff_factor, growth_interval, in_a_row=True, again=True):
    """What `run` should give; or with a mistake."""
    scale, good, seen = init_scale, 0, []
    for value in values:
        if math.isfinite(value):
            good += 1
            if good >= growth_interval:
                scale, good = scale * growth_factor, 0 if again else good
        else:
            scale, good = scale * backoff_factor, 0 if in_a_row else good
        seen.append(scale)
    return seen


def expect_course(scaler, values, options, about):
    wanted = course(values, **options)
    other = {
        "it grows an iteration late": {"growth_interval": options["growth_interval"] + 1},
        "it grows an iteration early": {"growth_interval": options["growth_interval"] - 1},
        "good iterations need not be in a row: inf and NaN begin anew": {"in_a_row": False},
        "after growing it grows in every iteration: begin to count anew": {"again": False},
        "it never shrinks": {"backoff_factor": 1.0},
        "it does not shrink after NaN": {"values": [1 if math.isnan(value) else value for value in values]},
        "it does not shrink after inf": {"values": [1 if math.isinf(value) else value for value in values]},
        "it always halves, whatever backoff_factor says": {"backoff_factor": 0.5},
        "it never grows": {"growth_factor": 1.0},
        "it always doubles, whatever growth_factor says": {"growth_factor": 2.0},
    }
    suspects = {told: course(**{"values": values, **options, **how}) for told, how in other.items()}
    expect_scales(run(scaler, values), wanted, about, suspects)


def test_course_of_the_scale(answer):
    """The scale grows after growth_interval good iterations in a row, and shrinks after inf or NaN."""
    values = [1, 1, math.inf, 1, 1, 1, 1, math.nan, math.nan, 1, 1, 1, 1, 1, 1, 1]
    expect_course(answer.LossScaler(**OPTIONS), values, OPTIONS, f"of LossScaler(**{OPTIONS})")


def test_scaled_loss(answer):
    """scale(loss) is the loss times the scale of now, with its graph."""
    scaler, x = answer.LossScaler(96.0), torch.tensor([2.0, -1.0], requires_grad=True)
    run(scaler, [math.inf])
    yours = scaler.scale(x.square().sum())
    suspects = {"this is the first scale, not that of now": lambda: torch.tensor(480.0)}
    expect_close(
        yours.detach(), torch.tensor(240.0), "scale(a loss of 5) at a scale of 48", suspects=suspects
    )
    (gradient,) = torch.autograd.grad(yours, x)
    expect_close(gradient, torch.tensor([192.0, -96.0]), "the gradient of scale(x.square().sum())")


@pytest.mark.parametrize("bad", BAD)
def test_bad_gradients_skip_the_step(answer, gen, bad):
    """A single inf or NaN, in whichever gradient, skips the step: parameters and momentum stay."""
    for index, at in ((0, (2, 1)), (1, ()), (2, (0,))):
        params = parameters(gen)
        optimizer, scaler, steps = momentum(params), answer.LossScaler(16.0), []
        scaler.step(optimizer)
        scaler.update()
        params[index].grad[at] = bad
        before = copy.deepcopy(([p.detach() for p in params], optimizer.state_dict()["state"]))
        optimizer.register_step_pre_hook(lambda *_, steps=steps: steps.append(1))
        scaler.step(optimizer)
        where = f"where the gradient of shape {tuple(params[index].shape)} holds {bad}"
        suspects = {"not every gradient of every group is looked at": lambda: 1} if index else {}
        expect_equal(
            len(steps), 0, f"the number of steps that the optimizer takes {where}", suspects=suspects
        )
        for p, was in zip(params, before[0], strict=True):
            expect_equal(p.detach(), was, f"a parameter {where}")
        expect_equal(optimizer.state_dict()["state"], before[1], f"the optimizer's state {where}")


def test_unscale_then_step(answer, gen):
    """After unscale_ the gradients are ready to be clipped, and step does not divide them again."""
    params = parameters(gen)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(32.0)
    for number in (1, 2):
        before, given = [p.detach().clone() for p in params], [p.grad.clone() for p in params]
        scaler.unscale_(optimizer)
        for p, g in zip(params, given, strict=True):
            expect_close(p.grad, g / 32, f"a gradient after unscale_ in iteration {number}", before=g)
            p.grad.mul_(0.1)
        scaler.step(optimizer)
        scaler.update()
        for p, was, g in zip(params, before, given, strict=True):
            suspects = {
                "step divides again, after unscale_": lambda was=was, g=g: was - 0.5 * 0.1 * g / 32**2,
                "what was made of the gradients is lost": lambda was=was, g=g: was - 0.5 * g / 32,
            }
            call = f"a parameter after unscale_, clipping and step in iteration {number}"
            expect_close(p.detach(), was - 0.5 * 0.1 * g / 32, call, suspects=suspects)
            p.grad = g


def test_beside_pytorch(answer, gen):
    """Over iterations with losses that overflow now and then, all goes as with torch.amp.GradScaler."""
    params = parameters(gen)
    twins = copy.deepcopy(params)
    yours, wanted = answer.LossScaler(**OPTIONS), torch.amp.GradScaler("cpu", **OPTIONS)
    sides = [(params, yours, momentum(params)), (twins, wanted, momentum(twins))]
    for number, size in enumerate((1, 1, 1e38, 1, 2, 1, math.nan, 1, 1), start=1):
        x = torch.randn((), generator=gen)
        for ps, scaler, optimizer in sides:
            optimizer.zero_grad()
            loss = sum((p - x).square().sum() for p in ps)
            scaler.scale(loss * size).backward()
            scaler.step(optimizer)
            scaler.update()
        for p, twin in zip(params, twins, strict=True):
            expect_close(p.detach(), twin.detach(), f"a parameter after iteration {number}", scale=1.0)
        expect_number(yours.get_scale(), wanted.get_scale(), f"the scale after iteration {number}")


def test_state_dict(answer):
    """A scaler that loads a state dict goes on with the scale, the count and the options of the other."""
    first, second = answer.LossScaler(**OPTIONS), answer.LossScaler()
    run(first, [math.inf, 1, 1])
    second.load_state_dict(first.state_dict())
    expect_number(second.get_scale(), 768.0, "the scale of a scaler that has loaded a state dict")
    suspects = {
        "the count is lost": [768.0, 768.0, 3072.0, 384.0],
        "the options are lost": [768.0, 768.0, 768.0, 384.0],
    }
    yours = run(second, [1, 1, 1, math.nan])
    expect_scales(
        yours, [3072.0, 3072.0, 3072.0, 384.0], "of a scaler that has loaded a state dict", suspects
    )


def test_own_computation(answer, gen):
    """The scaling is computed here, not by GradScaler's kernels."""
    optimizer, scaler = momentum(parameters(gen)), answer.LossScaler(4.0)
    with forbid("LossScaler", *KERNELS):
        scaler.scale(torch.tensor(1.0))
        scaler.step(optimizer)
        scaler.update()


@pytest.mark.fine
def test_step_tells(answer, gen):
    """step returns whether the step was taken."""
    params = parameters(gen)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(4.0)
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer) with finite gradients")
    scaler.update()
    params[0].grad[0, 0] = math.inf
    expect_equal(scaler.step(optimizer), False, "scaler.step(optimizer) with inf")


@pytest.mark.fine
def test_half_losses(answer):
    """A loss in half precision is scaled in float32."""
    for value, dtype in ((100.0, torch.float16), (0.3, torch.float16), (0.3, torch.bfloat16)):
        loss = torch.tensor(value, dtype=dtype)
        suspects = {"scaled in the loss's own dtype, and widened then": lambda x=loss: (x * 1025.0).float()}
        call = f"LossScaler(1025.0).scale(a loss of {value} in {dtype})"
        yours = answer.LossScaler(1025.0).scale(loss)
        expect_close(yours, loss.float() * 1025.0, call, suspects=suspects)


@pytest.mark.fine
def test_large_gradients_are_finite(answer):
    """Gradients near the end of float32 are finite, although their sum, norm and squares are not."""
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3e38, 3e38])
    optimizer, scaler = torch.optim.SGD([p], lr=1.0), answer.LossScaler(4.0)
    scaler.step(optimizer)
    expect_close(p.detach(), torch.tensor([-7.5e37, -7.5e37]), "a parameter after gradients of 3e38")


@pytest.mark.fine
def test_in_place(answer, gen):
    """Gradients are divided in the memory that they have, and None stays None."""
    params = parameters(gen)
    params[1].grad = None
    held = [p.grad for p in params]
    wanted = [None if g is None else g / 4 for g in held]
    optimizer, scaler = momentum(params), answer.LossScaler(4.0)
    scaler.unscale_(optimizer)
    for p, g, right in zip(params, held, wanted, strict=True):
        expect_that(p.grad is g, "a `.grad` is another object after unscale_: divide in place")
        if g is not None:
            expect_close(g, right, "a gradient after unscale_")


@pytest.mark.fine
def test_half_gradients(answer, gen):
    """A float16 gradient raises ValueError."""
    params = parameters(gen)
    params[1] = nn.Parameter(torch.ones(2).half())
    params[1].grad = torch.ones(2).half()
    scaler, optimizer = answer.LossScaler(4.0), momentum(params)
    expect_raises(ValueError, lambda: scaler.unscale_(optimizer), "unscale_ with a float16 gradient")


@pytest.mark.fine
def test_two_optimizers(answer, gen):
    """Each of two optimizers skips by its own gradients; together they make one iteration."""
    scaler, seen = answer.LossScaler(8.0, growth_interval=2), []
    for spoiled in ("first", "second", "", "", "both", ""):
        first, second = parameters(gen), parameters(gen)
        for name, params in {"first": first, "second": second}.items():
            if spoiled in (name, "both"):
                params[0].grad[0, 0] = math.inf
        before = [params[0].detach().clone() for params in (first, second)]
        for optimizer in [torch.optim.SGD(params, lr=0.5) for params in (first, second)]:
            scaler.step(optimizer)
        scaler.update()
        moved = [
            not bool((p[0].detach() == was).all()) for p, was in zip((first, second), before, strict=True)
        ]
        wanted = [spoiled not in (name, "both") for name in ("first", "second")]
        where = f"where inf is in the gradients of: {spoiled or 'none'}"
        expect_equal(moved, wanted, f"[the first, the second optimizer takes a step] {where}")
        seen.append(scaler.get_scale())
    suspects = {
        "the optimizer that came last decides": [8.0, 4.0, 4.0, 8.0, 4.0, 4.0],
        "every optimizer counts as an iteration": [4.0, 2.0, 4.0, 8.0, 2.0, 4.0],
    }
    expect_scales(seen, [4.0, 2.0, 2.0, 4.0, 2.0, 2.0], "of two optimizers", suspects)


@pytest.mark.fine
def test_out_of_turn(answer, gen):
    """Unscaling or stepping twice, and unscaling after the step, raise RuntimeError until update."""
    optimizer, scaler = momentum(parameters(gen)), answer.LossScaler(4.0)
    for first, second in (("unscale_", "unscale_"), ("step", "step"), ("step", "unscale_")):
        getattr(scaler, first)(optimizer)
        call = f"scaler.{second}(optimizer) after {first}"
        expect_raises(RuntimeError, lambda second=second: getattr(scaler, second)(optimizer), call)
        scaler.update()


@pytest.mark.fine
def test_exchange_with_pytorch(answer):
    """torch.amp.GradScaler goes on from your state dict, which holds plain numbers, and you from its."""
    pair = (answer.LossScaler, lambda **options: torch.amp.GradScaler("cpu", **options))
    for make, other in (pair, pair[::-1]):
        first, second = make(**OPTIONS), other()
        first.scale(torch.tensor(1.0))  # GradScaler needs it before the first step
        run(first, [1, 1])
        state = first.state_dict()
        wanted = {
            "scale": 6144.0,
            "growth_factor": 4.0,
            "backoff_factor": 0.125,
            "growth_interval": 3,
            "_growth_tracker": 2,
        }
        expect_equal(state, wanted, "state_dict()")
        second.load_state_dict(state)
        second.scale(torch.tensor(1.0))
        call = "after a state dict went from one class to the other"
        expect_scales(run(second, [1, math.inf]), [24576.0, 3072.0], call, {})


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """On another device it works as well, and the host waits once at most in an iteration."""
    params = parameters(gen, [(2, 3)] * 6, where=device)
    optimizer, scaler = torch.optim.SGD(params, lr=0.5), answer.LossScaler(8.0)
    loss = torch.tensor(2.0).to(device)
    wanted = (params[5].detach() - 0.5 * params[5].grad / 8).cpu()
    with count_traffic() as traffic:
        scaler.scale(loss)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    told = "the host waits for the device more than once in an iteration"
    expect_that(traffic.syncs <= 1, told, yours=f"{traffic.syncs} times for 6 parameters")
    expect_close(params[5].detach().cpu(), wanted, "a parameter on another device after step")


def oracle(answer, gen):
    def iterations(values, early):
        params = parameters(gen)
        optimizer = momentum(params)
        grads = [[v * torch.randn(p.shape, generator=gen) for p in params] for v in values]

        def made():
            scaler, seen = answer.LossScaler(512.0, backoff_factor=0.25, growth_interval=2), []
            for drawn in grads:
                for p, g in zip(params, drawn, strict=True):
                    p.grad = g.clone()
                if early:
                    scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()
                seen.append([scaler.get_scale(), [p.detach().clone() for p in params]])
            return seen

        return made

    loss = torch.randn((), generator=gen)
    return {
        "a scaled loss": lambda: answer.LossScaler(96.0).scale(loss),
        "parameters and scales over seven iterations": iterations([1, 2, math.nan, 3, math.inf, 1, 1], False),
        "parameters and scales, with unscale_ before step": iterations([1, 1, math.inf, 2], True),
    }
