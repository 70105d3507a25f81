"""The worked example of move_batch."""

from typing import NamedTuple

import torch
from torch import Tensor

from grader.checks import expect_equal, expect_that
from grader.checks.devices import is_simulated, on_host


class Boxes(NamedTuple):
    corners: Tensor
    names: list[str]


def test_worked_example(answer, device):
    """The batch of the worked example is on the device, and has the form it had."""
    image = torch.arange(6.0).view(2, 3)
    batch = {
        "image": image,
        "boxes": [Boxes(torch.ones(1, 4), ["cat"])],
        "sizes": (torch.tensor([480, 360]), 640),
        "epoch": 3,
    }
    there = answer.move_batch(batch, device, non_blocking=True)
    expect_equal(list(there), ["image", "boxes", "sizes", "epoch"], "the keys of move_batch(batch, device)")
    boxes = there["boxes"][0]
    expect_equal(type(boxes).__name__, "Boxes", 'the type of there["boxes"][0]')
    expect_equal((type(there["sizes"]).__name__, there["sizes"][1]), ("tuple", 640), 'there["sizes"]')
    expect_equal((boxes.names, there["epoch"]), (["cat"], 3), "what is no tensor")
    for name, yours, wanted in [
        ('there["image"]', there["image"], image),
        ('there["boxes"][0].corners', boxes.corners, torch.ones(1, 4)),
        ('there["sizes"][0]', there["sizes"][0], torch.tensor([480, 360])),
    ]:
        expect_that(is_simulated(yours), f"{name} is not on the device", yours=yours)
        expect_equal(on_host(yours), wanted, name)


def test_one_tensor(answer, device):
    """A batch may be one tensor, or none."""
    yours = answer.move_batch(torch.arange(3), device)
    expect_that(is_simulated(yours), "move_batch(x, device) is not on the device", yours=yours)
    expect_equal(on_host(yours), torch.arange(3), "move_batch(x, device)")
    expect_equal(answer.move_batch("cat", device), "cat", 'move_batch("cat", device)')
