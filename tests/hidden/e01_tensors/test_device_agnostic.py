"""What grades device_agnostic: devices, dtypes, positions; precision, traffic, other shapes."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, device, dtypes, gradients, strides, untouched, values
from grader.checks.devices import on_host


def exact_table(time, dim):
    column = torch.arange(dim)
    angle = torch.arange(time).double()[:, None] / 10000.0 ** ((column - column % 2).double() / dim)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def plain(x):
    return x.double() + exact_table(*x.shape[-2:])


def sequences(gen):
    return {
        "two sequences": torch.randn(2, 5, 6, generator=gen),
        "a single position": torch.randn(3, 1, 4, generator=gen),
        "a long sequence": torch.randn(1, 40, 2, generator=gen),
        "a wide one": torch.randn(3, 4, 20, generator=gen),
    }


def others(gen):
    sizes = {"no dimension before time": (5, 6), "two dimensions before time": (2, 3, 4, 20)}
    return {name: torch.randn(size, generator=gen) for name, size in sizes.items()}


def late(gen):
    kinds = torch.float32, torch.float16, torch.bfloat16
    return {f"5100 positions in {kind}": torch.zeros(1, 5100, 6, dtype=kind) for kind in kinds}


contract = Contract(
    "add_positions(x)",
    reference=plain,
    inputs=sequences,
    suspects={
        "positions are counted from 1": lambda x: x + exact_table(x.shape[-2] + 1, x.shape[-1])[1:],
        "all sines stand before all cosines": lambda x: (
            x + torch.cat([exact_table(*x.shape[-2:])[:, start::2] for start in (0, 1)], dim=-1)
        ),
    },
    dims="batch time dim",
    scale=2.0,
    job=[
        # As coarse as angles in half precision are; how well they are rounded is fine print.
        dtypes(torch.float16, torch.bfloat16, ulps=32.0),
        gradients("x"),
    ],
    fine=[
        dtypes(torch.float64, ulps=100.0, name="float64", title="float64 keeps its precision."),
        values(
            inputs=late,
            ulps=1.01,
            scale=0.01,
            name="late_positions",
            title="The table is right to the last digits at position 5000 too.",
        ),
        values(
            inputs=others,
            name="leading_dimensions",
            title="Any number of dimensions stands before time and dim.",
        ),
        strides(inputs=others),
        untouched(),
        device(name="no_copies", title="The table is made on the device of x: nothing is copied there."),
    ],
)


def test_on_another_device(answer, device, gen):
    """Sequences on another device get their positions there."""
    x = torch.randn(2, 5, 6, generator=gen)
    wanted = plain(x).float()
    yours = answer.add_positions(x.to(device))
    expect_equal(yours.device, device, "the device of add_positions(x) of x on another device")
    expect_close(on_host(yours), wanted, "add_positions(x) of x on another device", scale=2.0)


def test_order_of_devices(answer, monkeypatch):
    """CUDA comes before an Apple GPU, which comes before the CPU, asked anew at each call."""
    for cuda, mps, wanted in [
        (False, False, "cpu"),
        (True, True, "cuda"),
        (False, True, "mps"),
        (True, False, "cuda"),
    ]:
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda mps=mps: mps)
        picked = answer.pick_device()
        call = f"pick_device() where cuda.is_available() is {cuda} and mps.is_available() is {mps}"
        expect_that(isinstance(picked, torch.device), "pick_device() returns no torch.device", yours=picked)
        order = {
            "an Apple GPU comes after CUDA": lambda: "mps",
            "an Apple GPU is left out": lambda mps=mps: "cpu" if mps else None,
        }
        expect_equal(picked.type, wanted, call, suspects=order)


def test_widest_dtype(answer):
    """float64 is right everywhere but on mps, with or without an index."""
    for name in ("cpu", "cuda", "cuda:1", "mps", "mps:0"):
        wanted, other = torch.float64, torch.float32
        why = "float64 is missing on mps alone"
        if name.startswith("mps"):
            wanted, other, why = (
                other,
                wanted,
                "mps has no float64: device.type is mps, with an index or without",
            )
        call = f'angle_dtype(torch.device("{name}"))'
        expect_equal(answer.angle_dtype(torch.device(name)), wanted, call, suspects={why: lambda o=other: o})


@pytest.mark.fine
def test_angle_dtype_is_asked(answer, device, monkeypatch):
    """add_positions asks angle_dtype what to compute in: float64 itself is not to be had on mps."""
    asked = []
    monkeypatch.setattr(answer, "angle_dtype", lambda device: asked.append(device) or torch.float32)
    x = torch.zeros(1, 61, 14, dtype=torch.float64).to(device)
    yours = on_host(answer.add_positions(x))
    expect_that(bool(asked), "add_positions(x) does not ask angle_dtype for the dtype to compute in")
    expect_equal(asked[0], x.device, "the device that add_positions(x) asks angle_dtype about")
    off = (yours - exact_table(61, 14)).abs().max().item()
    expect_that(
        1e-10 < off < 1e-3,
        "add_positions(x) does not compute in the dtype that angle_dtype(x.device) returns",
        yours=f"off by {off:.1g} where angle_dtype returns float32",
        wanted="an error as float32 makes it",
    )


def oracle(answer, gen):
    def in_float32_and_float16(*sizes):
        x = torch.randn(sizes, generator=gen)
        return lambda: [answer.add_positions(x.clone()), answer.add_positions(x[:, :2].half())]

    def with_gradient():
        y = answer.add_positions(few)
        y.backward(weights)
        return [y.detach(), few.grad]

    few = torch.randn(4, 2, 6, generator=gen).bfloat16().requires_grad_()
    weights = torch.randn(4, 2, 6, generator=gen).bfloat16()
    return {
        "sequences in float32 and float16": in_float32_and_float16(2, 5, 6),
        "a long sequence in float32, its start in float16": in_float32_and_float16(1, 40, 2),
        "wide sequences in float32 and float16": in_float32_and_float16(3, 4, 20),
        "sequences in bfloat16, and the gradient": with_gradient,
    }
