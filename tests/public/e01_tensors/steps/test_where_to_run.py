"""The suite of where_to_run."""

from unittest.mock import patch

import torch

from grader.checks import expect_close, expect_equal
from grader.checks.devices import on_host


def best(answer, cuda, mps):
    """What the answer says where these are there; a torch.device is as good as its name."""
    with (
        patch.object(torch.cuda, "is_available", lambda: cuda),
        patch.object(torch.backends.mps, "is_available", lambda: mps),
    ):
        return str(answer.best_device()).split(":")[0]


def test_best_device(answer):
    """Cuda comes before mps, and mps before the CPU."""
    expect_equal(best(answer, True, False), "cuda", "best_device() where cuda is available")
    without = {
        "mps is left out: it comes before the CPU": lambda: "cpu",
        "cuda is named, whether it is there or not": lambda: "cuda",
    }
    expect_equal(
        best(answer, False, True), "mps", "best_device() where only mps is available", suspects=without
    )
    expect_equal(best(answer, False, False), "cpu", "best_device() where there is no GPU")
    expect_equal(best(answer, True, True), "cuda", "best_device() where both are available")


def test_move(answer, gen, device):
    """The numbers of x come back on the device."""
    x = torch.randn(2, 3, generator=gen)
    moved = answer.move(x, device)
    suspects = {"x itself does not move: return what `x.to(device)` gives": lambda: "cpu"}
    expect_equal(moved.device.type, device.type, f'the device of move(x, "{device.type}")', suspects=suspects)
    expect_close(on_host(moved), x, "move(x, device)")


def oracle(answer, gen):
    cuda, mps = (torch.rand(2, 3, 9, generator=gen) < 0.5).tolist()
    nowhere = [False] * 9
    machines = {
        "nine machines without a Mac's GPU": (cuda[0], nowhere),
        "nine machines without NVIDIA's": (nowhere, mps[0]),
        "nine machines with either, both or none": (cuda[1], mps[1]),
    }
    names = {
        about: [best(answer, c, m) for c, m in zip(*there, strict=True)] for about, there in machines.items()
    }
    return {**names, "x on the CPU": answer.move(torch.randn(2, 3, generator=gen), "cpu")}
