"""What grades parameter_or_buffer: what is registered, and what moves, saves, trains and shares memory."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_copy, expect_equal, expect_raises, expect_that, unchanged
from grader.checks.contract import Contract, device, dtypes, layer, loads
from grader.checks.devices import is_simulated
from grader.checks.registered import expect_registered


def weighed(state, x, time):
    ramp = torch.arange(1, time + 1, dtype=x.dtype) / time
    return (x - state["mean"]) / state["std"] * state["gain"] * ramp[:, None]


def statistics(gen, channels=3, dtype=torch.float32):
    drawn = torch.randn(channels, generator=gen), 0.5 + torch.rand(channels, generator=gen)
    return [t.to(dtype) for t in drawn]


def head(gen, *leading, loaded=True):
    """A call of a head that has loaded other statistics and another gain, or of a new one."""
    mean, std = statistics(gen)
    state = {"mean": mean, "std": std, "gain": torch.ones(3)}
    if loaded:
        state = dict(
            zip(("mean", "std", "gain"), [*statistics(gen), torch.randn(3, generator=gen)], strict=True)
        )
    return layer(mean, std, time=4, state=state)(torch.randn(*leading, 4, 3, generator=gen))


contract = Contract(
    "SensorHead(mean, std)(x)",
    reference=weighed,
    inputs=lambda gen: {
        "a window": head(gen, loaded=False),
        "windows": head(gen, 5, loaded=False),
        "rows of windows": head(gen, 2, 3, loaded=False),
        "windows, with another gain and other statistics": head(gen, 2),
        "rows of windows, with another gain and other statistics": head(gen, 2, 2),
    },
    gradient="x gain",
    scale=10.0,
    suspects={
        "what is loaded has no effect: the statistics are those that the head was made of": (
            lambda state, x, mean, std, time: weighed({**state, "mean": mean, "std": std}, x, time)
        ),
        "the std that is loaded has no effect: it is the one that the head was made of": (
            lambda state, x, std, time: weighed({**state, "std": std}, x, time)
        ),
    },
    job=[
        device(
            title="Inside a model the head moves to another device with all four tensors, and works there."
        ),
        dtypes(
            torch.float64,
            title="Inside a model the head is cast to float64 with all four tensors, and computes in it.",
        ),
        loads(title="A trained head comes back from its state dict: gain, mean and std."),
    ],
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
