"""What grades parameter_or_buffer: what is registered, and what moves, saves, trains and shares memory."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_copy, expect_equal, expect_raises, expect_that, unchanged
from grader.checks.devices import is_simulated
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
)
from grader.checks.registered import expect_registered


def weighed(state, x):
    time = x.shape[-2]
    ramp = torch.arange(1, time + 1, dtype=x.dtype) / time
    return (x - state["mean"]) / state["std"] * state["gain"] * ramp[:, None]


def statistics(gen, channels=3, dtype=torch.float32):
    return torch.randn(channels, generator=gen).to(dtype), (0.5 + torch.rand(channels, generator=gen)).to(
        dtype
    )


def case(answer, gen):
    mean, std = statistics(gen)
    return Case(
        lambda: answer.SensorHead(mean.clone(), std.clone(), time=4),
        [torch.randn(2, 4, 3, generator=gen)],
        weighed,
        "SensorHead(mean, std, time=4)",
    )


def expect_four(answer, gen, channels, time, dtype=torch.float32):
    mean, std = statistics(gen, channels, dtype)
    head = answer.SensorHead(mean.clone(), std.clone(), time)
    call = f"SensorHead(mean, std, time={time}) with {channels} channels in {dtype}"
    expect_registered(
        head,
        call,
        parameters={"gain": (channels,)},
        buffers={"mean": (channels,), "std": (channels,)},
        unsaved={"ramp": (time,)},
        dtype=dtype,
    )
    expect_equal(head.mean, mean, f"mean in {call}")
    expect_equal(head.std, std, f"std in {call}")
    expect_equal(head.gain.detach(), torch.ones_like(mean), f"gain in {call}")
    ramp = (torch.arange(1, time + 1, dtype=torch.float64) / time).to(dtype)
    expect_close(head.ramp, ramp, f"ramp in {call}")


@pytest.mark.parametrize(("channels", "time"), [(3, 4), (1, 2), (4, 4)])
def test_what_is_registered(answer, gen, channels, time):
    """The gain is a parameter, the statistics are saved buffers, the ramp is one that is not saved."""
    expect_four(answer, gen, channels, time)


def test_values(answer, gen):
    """Windows are standardised, scaled and weighed as before."""
    for leading in [(), (5,), (2, 3)]:
        mean, std = statistics(gen)
        x = torch.randn(*leading, 4, 3, generator=gen)
        wanted = weighed({"mean": mean, "std": std, "gain": torch.ones(3)}, x)
        yours = answer.SensorHead(mean.clone(), std.clone(), 4)(x).detach()
        expect_close(yours, wanted, f"head(x), x of shape {tuple(x.shape)}", scale=10.0)


def test_gradients(answer, gen):
    """Values and gradients are right for whatever gain the head is given."""
    expect_functional(case(answer, gen), gen)


def test_trains(answer, gen):
    """Training moves the gain as it should."""
    expect_trains(case(answer, gen), gen)


def test_moves_as_a_whole(answer, device, gen):
    """Inside a model the head moves to another device with all four tensors, and works there."""
    expect_moves(case(answer, gen), device, gen)


def test_casts_as_a_whole(answer, gen):
    """Inside a model the head is cast to float64 with all four tensors, and computes in it."""
    expect_casts(case(answer, gen), torch.float64, gen)


def test_saves_and_loads(answer, gen):
    """A trained head comes back from its state dict: gain, mean and std."""
    expect_loads(case(answer, gen), gen)


@pytest.mark.fine
def test_memory_of_its_own(answer, gen):
    """Loading into the head leaves the tensors that it was given alone."""
    mean, std = statistics(gen)
    head = answer.SensorHead(mean, std, time=4)
    expect_copy(head.mean, mean, "SensorHead(mean, std, time=4).mean")
    expect_copy(head.std, std, "SensorHead(mean, std, time=4).std")
    with unchanged("head.load_state_dict(other)", mean=mean, std=std):
        head.load_state_dict({name: 2 * t + 1 for name, t in head.state_dict().items()})


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_dtype_of_the_mean(answer, gen, dtype):
    """All four are made in the dtype of the mean."""
    expect_four(answer, gen, 3, 4, dtype)


@pytest.mark.fine
def test_ramp_is_used(answer, gen):
    """forward weighs the time steps by the ramp that is registered."""
    head, x = answer.SensorHead(*statistics(gen), 4), torch.randn(4, 3, generator=gen)
    before = head(x).detach()
    head.ramp.mul_(2)
    suspects = {"forward makes a ramp of its own: the registered one has no effect": lambda: before}
    expect_close(head(x).detach(), 2 * before, "head(x) after head.ramp.mul_(2)", suspects=suspects)


@pytest.mark.fine
def test_device_of_the_mean(answer, device, gen):
    """All four are made on the device of the mean."""
    mean, std = statistics(gen)
    head = answer.SensorHead(mean.to(device), std.to(device), time=4)
    for name, t in [*head.named_parameters(), *head.named_buffers()]:
        expect_that(is_simulated(t), f"{name} is not on the device of the given mean", yours=t)


@pytest.mark.fine
def test_another_time(answer, gen):
    """A state dict of a head with another time loads, inside a model too; one without a gain does not."""
    short, long = (answer.SensorHead(*statistics(gen), time=time) for time in (4, 6))
    saved = {f"0.{name}": t.clone() for name, t in short.state_dict().items()}
    try:
        nn.Sequential(long).load_state_dict(saved)
    except RuntimeError as error:
        likely = "the ramp is saved, or looked for"
        expect_that(
            False, "a state dict with time=4 does not load with time=6", yours=str(error), likely=likely
        )
    expect_equal(long.mean, short.mean, "mean of a head with time=6 that has loaded one with time=4")
    for name in ("gain", "mean", "std"):
        rest = {n: t for n, t in short.state_dict().items() if n != name}
        call = f"head.load_state_dict(state) of a state without {name}"
        expect_raises(RuntimeError, lambda rest=rest: long.load_state_dict(rest), call)


def oracle(answer, gen):
    mean, std = statistics(gen, 4)
    head = answer.SensorHead(mean.clone(), std.clone(), time=5)
    x = torch.randn(2, 5, 4, generator=gen, requires_grad=True)
    cases = {"a new head": head(x).detach()}
    for _, t in sorted(head.state_dict().items()):  # in whatever order they were registered
        t.copy_(0.5 + torch.rand(t.shape, generator=gen))
    y = head(x)
    y.backward(torch.randn(y.shape, generator=gen))
    again = answer.SensorHead(mean.clone(), std.clone(), time=5)
    again.load_state_dict(head.state_dict())
    return {
        **cases,
        "with another gain and other statistics": y.detach(),
        "the gradients": {"x": x.grad, "gain": head.gain.grad},
        "loaded from its state dict": again(x).detach(),
        "the state dict": {name: t.clone() for name, t in sorted(head.state_dict().items())},
    }
