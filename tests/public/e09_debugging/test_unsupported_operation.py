"""The worked example of unsupported_operation."""

import torch

from grader.checks import expect_close, expect_that
from grader.checks.devices import is_simulated, on_host


def cumsum(x, dim):
    """torch.cumsum, which the simulated device lacks."""
    if is_simulated(x):
        lacking = NotImplementedError("The operator 'aten::cumsum' is not implemented for this device")
        raise lacking
    return torch.cumsum(x, dim)


def test_worked_example(answer, device):
    """The CPU computes what the device lacks, and the result is on the device."""
    x, running = torch.tensor([1.0, 2.0, 4.0]), answer.with_fallback(cumsum)
    yours = running(x.to(device), dim=0)
    expect_that(is_simulated(yours), "running(x, dim=0) is not on the device of x", yours=yours)
    expect_close(on_host(yours), torch.tensor([1.0, 3.0, 7.0]), "running(x, dim=0)")
    expect_close(running(x, dim=0), torch.tensor([1.0, 3.0, 7.0]), "running(x.cpu(), dim=0)")
