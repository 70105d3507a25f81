"""The worked example of quantize and dequantize."""

import torch

from grader.checks import expect_close, expect_equal, expect_that

X = torch.tensor([[63.5, -254.0, 1.0], [0.0, 0.5, -1.27]])


def expect_near(back, half, call):
    """Fail unless every number of X is back, off by half a scale at most."""
    expect_equal((back.dtype, tuple(back.shape)), (torch.float32, (2, 3)), f"(dtype, shape) from {call}")
    halves = ((back - X).abs() / half).flatten()
    worst = int(halves.argmax())
    expect_that(
        bool((halves <= 1.001).all()),
        f"numbers from {call} are off by more than half of their scale",
        yours=f"{X.flatten()[worst]:g} comes back as {back.flatten()[worst]:g}",
        wanted=f"off by {half.expand(2, 3).flatten()[worst]:g} at most",
    )


def test_worked_example(answer):
    """With one scale, 254 / 127, the numbers of the worked example come back off by 1 at most."""
    q, scale = answer.quantize(X.clone())
    suspects = {"the numbers are rounded, and not cast: .to(torch.int8)": lambda: torch.float32}
    expect_equal(q.dtype, torch.int8, "the dtype of q from quantize(x)", suspects=suspects)
    expect_equal(tuple(q.shape), (2, 3), "the shape of q from quantize(x)")
    expect_near(answer.dequantize(q, scale), torch.tensor(1.0), "dequantize(*quantize(x))")


def test_channels(answer):
    """With a scale for each row, the small numbers of the second row come back off by 0.005 at most."""
    q, scale = answer.quantize(X.clone(), channel=0)
    expect_equal(tuple(scale.shape), (2, 1), "the shape of scale from quantize(x, channel=0)")
    half = torch.tensor([[1.0], [0.005]])
    expect_near(answer.dequantize(q, scale), half, "dequantize(*quantize(x, channel=0))")


def test_dequantize(answer):
    """dequantize multiplies by the scale."""
    q, scale = torch.tensor([[32, -127, 0], [0, 50, -127]], dtype=torch.int8), torch.tensor([[2.0], [0.01]])
    wanted = torch.tensor([[64.0, -254.0, 0.0], [0.0, 0.5, -1.27]])
    suspects = {
        "q is divided by the scale: scale is what a step is worth": lambda: q / scale,
        "q is taken for unsigned bytes, with 0 at 128: int8 has a 0 of its own": lambda: (
            (q.float() - 128) * scale
        ),
    }
    expect_close(answer.dequantize(q, scale), wanted, "dequantize(q, scale)", suspects=suspects)
