"""What grades parameter_or_buffer: what is registered, and what moves, saves, trains and shares memory."""

import math

import pytest
import torch
from torch import nn

from grader.checks import (
    CheckFailure,
    expect_close,
    expect_copy,
    expect_equal,
    expect_raises,
    expect_that,
    unchanged,
)
from grader.checks.devices import is_simulated
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
    in_evaluation,
)
from grader.checks.registered import expect_registered, state_of

CALL = "SensorHead(mean, std, time=4)"


def weighed(state, x):
    time = x.shape[-2]
    ramp = torch.arange(1, time + 1, dtype=x.dtype) / time
    return (x - state["mean"]) / state["std"] * state["gain"] * ramp[:, None]


def statistics(gen, channels=3, dtype=torch.float32):
    mean = torch.randn(channels, generator=gen, dtype=torch.float64)
    return mean.to(dtype), (0.5 + torch.rand(channels, generator=gen, dtype=torch.float64)).to(dtype)


def case(answer, gen, sizes=(2, 4, 3)):
    mean, std = statistics(gen)
    return Case(
        lambda: answer.SensorHead(mean.clone(), std.clone(), time=4),
        [torch.randn(sizes, generator=gen)],
        weighed,
        CALL,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_what_is_registered(answer, gen, dtype):
    """The gain is a parameter, the statistics are saved buffers, the ramp is one that is not saved."""
    for channels, time in [(3, 4), (1, 2), (2, 1), (4, 4)]:
        mean, std = statistics(gen, channels, dtype)
        head = answer.SensorHead(mean.clone(), std.clone(), time)
        call = f"SensorHead(mean, std, time={time}) with {channels} channels in {dtype}"
        of_channels = (channels,)
        expect_registered(
            head,
            call,
            parameters={"gain": of_channels},
            buffers={"mean": of_channels, "std": of_channels},
            unsaved={"ramp": (time,)},
            dtype=dtype,
        )
        expect_equal(head.mean, mean, f"mean in {call}")
        expect_equal(head.std, std, f"std in {call}")
        expect_equal(head.gain.detach(), torch.ones_like(mean), f"gain in {call}")
        ramp = (torch.arange(1, time + 1, dtype=torch.float64) / time).to(dtype)
        expect_close(head.ramp, ramp, f"ramp in {call}")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
def test_long_ramp(answer, gen, dtype):
    """The weights of thousands of time steps are right in any dtype, to its last digits."""
    for time in (300, 5000, 70_000):
        head = answer.SensorHead(*statistics(gen, 2, dtype), time)
        ramp = torch.arange(1, time + 1, dtype=torch.float64) / time
        finfo = torch.finfo(dtype)
        error = (head.ramp.double() - ramp).abs()
        steps = 8 if dtype == torch.float64 else 1.6  # float64 is not rounded from something finer
        most = steps * finfo.eps * ramp.clamp(min=finfo.tiny)
        worst = int((error / most).nan_to_num(math.inf).argmax())
        expect_that(
            bool((error <= most).all()),
            f"wrong ramp for time={time} and a mean in {dtype}",
            yours=f"{float(head.ramp[worst])} for step {worst + 1}",
            wanted=f"{float(ramp[worst].to(dtype))}",
        )


def test_any_leading_dimensions(answer, gen):
    """Values are right for windows with any leading dimensions, and x is left alone."""
    for channels, time, leading in [
        (3, 4, ()),
        (3, 4, (5,)),
        (2, 2, (2, 2)),
        (1, 3, (2,)),
        (3, 1, (4,)),
        (3, 4, (0,)),
        (3, 4, (2, 1, 2, 2, 1)),
    ]:
        mean, std = statistics(gen, channels)
        x = torch.randn(*leading, time, channels, generator=gen)
        wanted = weighed({"mean": mean, "std": std, "gain": torch.ones(channels)}, x)
        head = answer.SensorHead(mean.clone(), std.clone(), time)
        with unchanged("head(x)", x=x):
            y = head(x)
        expect_close(y.detach(), wanted, f"head(x), x of shape {tuple(x.shape)}")
        with torch.no_grad(), unchanged("head(x) under no_grad", x=x):
            y = head(x)
        expect_close(y, wanted, f"head(x) under no_grad, x of shape {tuple(x.shape)}")


def test_deviations_of_any_size(answer, gen):
    """Tiny and huge standard deviations, readings and means are taken as they are, and NaN stays NaN."""
    mean, std = torch.zeros(4), torch.tensor([1e-12, 1e-5, 1.0, 1e12])
    x = std * torch.randn(2, 4, generator=gen)
    wanted = weighed({"mean": mean, "std": std, "gain": torch.ones(4)}, x)
    expect_close(answer.SensorHead(mean, std, 2)(x).detach(), wanted, "head(x), std from 1e-12 to 1e12")
    mean, std = torch.tensor([3e4, -2e4, 1e3]), torch.tensor([0.7, 3.0, 0.3])
    x = mean + std * torch.randn(2, 3, generator=gen)
    exactly = {"mean": mean.double(), "std": std.double(), "gain": torch.ones(3, dtype=torch.float64)}
    for readings, about in ((x, "means thousands of times std"), (mean + 1e7 * std, "readings 1e7 std away")):
        readings = readings.expand(2, 3)
        wanted = weighed(exactly, readings.double()).float()
        yours = answer.SensorHead(mean.clone(), std.clone(), 2)(readings).detach()
        expect_close(yours, wanted, f"head(x), {about}")
    lost = answer.SensorHead(mean, std, 2)(torch.full((2, 3), torch.nan)).detach()
    expect_that(bool(lost.isnan().all()), "head(x) hides that x is NaN", yours=lost)


def test_moves_as_a_whole(answer, device, gen):
    """Inside a model the head moves to another device with all four tensors, and works there."""
    expect_moves(case(answer, gen), device, gen)
    mean, std = statistics(gen)
    there = mean.to(device), std.to(device)
    head = answer.SensorHead(*there, time=4)
    for name, t in [*head.named_parameters(), *head.named_buffers()]:
        expect_that(is_simulated(t), f"{name} is not on the device of the given mean", yours=t)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_casts_as_a_whole(answer, gen, dtype):
    """Inside a model the head is cast with all four tensors, and then computes in that dtype."""
    expect_casts(case(answer, gen), dtype, gen)


def test_saves_and_loads(answer, gen):
    """A trained head comes back from its state dict, also inside a model: gain, mean and std, but no ramp."""
    expect_loads(case(answer, gen), gen)
    mean, std = statistics(gen)
    head, longer = answer.SensorHead(mean, std, time=4), answer.SensorHead(mean + 1, std + 1, time=6)
    x = torch.randn(2, 6, 3, generator=gen)
    wanted = weighed({**state_of(head), "mean": mean, "std": std, "gain": torch.ones(3)}, x)
    saved = {f"0.{name}": t.clone() for name, t in head.state_dict().items()}
    model = nn.Sequential(longer)
    try:
        model.load_state_dict(saved)
    except RuntimeError as error:
        raise CheckFailure(
            "the state dict of a head with time=4 does not load into a model that contains one with time=6\n"
            f"  yours   {' '.join(str(error).split())}\n  wanted  no error: the ramp is not looked for"
        ) from None
    expect_close(longer(x).detach(), wanted, "head(x) with time=6 after it has loaded a head with time=4")
    longer.load_state_dict({name: t + 1 for name, t in head.state_dict().items()})
    expect_close(longer.mean, mean + 1, "mean of a head with time=6 that has loaded one with time=4")
    for name in ("gain", "mean", "std"):
        for where, module, prefix in (("nn.Sequential(head)", model, "0."), ("head", longer, "")):
            rest = {prefix + n[2:]: t for n, t in saved.items() if n != f"0.{name}"}
            call = f"{where}.load_state_dict(state) of a state without {prefix}{name}"
            expect_raises(RuntimeError, lambda load=module.load_state_dict, rest=rest: load(rest), call)


def test_memory_of_its_own(answer, gen):
    """Loading into the head leaves the tensors that it was given alone, and the reverse."""
    mean, std = statistics(gen)
    head = answer.SensorHead(mean, std, time=4)
    expect_copy(head.mean, mean, "SensorHead(mean, std, time=4).mean")
    expect_copy(head.std, std, "SensorHead(mean, std, time=4).std")
    other = {name: 2 * t + 1 for name, t in head.state_dict().items()}
    with unchanged("head.load_state_dict(other)", mean=mean, std=std):
        head.load_state_dict(other)
    mean.zero_()
    expect_equal(head.mean, other["mean"], "head.mean after the caller has changed its own mean")


def test_trains_the_gain_only(answer, gen):
    """Training moves the gain, and nothing else; weights and statistics are as they were."""
    judged = case(answer, gen)
    expect_trains(judged, gen)
    head = judged.make()
    before = state_of(head)
    model = nn.Sequential(nn.Linear(3, 3), head).requires_grad_(True)
    for _ in range(2):
        model(judged.inputs[0]).square().mean().backward()
        with torch.no_grad():
            for name, p in model.named_parameters():
                expect_that(p.grad is not None, f"no gradient reaches {name} of nn.Sequential(linear, head)")
                p -= 0.1 * p.grad
    for name, t in state_of(head).items():
        if name != "gain":
            expect_equal(t, before[name], f"{name} after two steps of training")
    expect_that(not torch.equal(head.gain, before["gain"]), "the gain does not move in training")


def test_other_gains(answer, gen):
    """Values and gradients are right for whatever gain the head is given, in both modes, for x as well."""
    expect_functional(case(answer, gen), gen)
    expect_functional(in_evaluation(case(answer, gen, sizes=(4, 3))), gen)


def test_deep_copy(answer, gen):
    """A deep copy is a head of its own."""
    expect_copies(case(answer, gen), gen)


def test_buffers_are_used(answer, gen):
    """Forward reads mean, std and ramp at the moment of the call."""
    mean, std = statistics(gen)
    head, x = answer.SensorHead(mean.clone(), std.clone(), time=4), torch.randn(4, 3, generator=gen)
    head(x)  # of which nothing is kept
    head.mean, head.std = mean + 1, 2 * std
    head.ramp = 3 * head.ramp
    wanted = 3 * weighed({"mean": mean + 1, "std": 2 * std, "gain": torch.ones(3)}, x)
    expect_close(head(x).detach(), wanted, "head(x) after mean, std and ramp were replaced")


def oracle(answer, gen):
    mean, std = statistics(gen, 4, torch.float64)
    head = answer.SensorHead(mean.clone(), std.clone(), time=5)
    with torch.no_grad():
        head.gain.copy_(torch.randn(4, generator=gen, dtype=torch.float64))
    x = torch.randn(2, 5, 4, generator=gen, dtype=torch.float64, requires_grad=True)
    y = head(x)
    y.backward(torch.randn(y.shape, generator=gen, dtype=torch.float64))
    state = {name: t.clone() for name, t in sorted(head.state_dict().items())}
    registered = [sorted(dict(head.named_parameters())), sorted(dict(head.named_buffers()))]
    return [y.detach(), x.grad, head.gain.grad, state, registered]
