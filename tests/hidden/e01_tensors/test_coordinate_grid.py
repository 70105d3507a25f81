"""What grades coordinate_grid: both conventions, dtypes and devices, small sides."""

import pytest
import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, flat_cost, given, values
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic


def centres(count, align_corners):
    """The centres along one side, one by one."""
    if align_corners:
        return [-1 + 2 * i / (count - 1) if count > 1 else 0.0 for i in range(count)]
    return [(2 * i + 1) / count - 1 for i in range(count)]


def reference(height, width, align_corners=False, dtype=torch.float32):
    ys, xs = centres(height, align_corners), centres(width, align_corners)
    points = [[x, y] for y in ys for x in xs]
    return torch.tensor(points, dtype=torch.float64).view(height, width, 2).to(dtype)


def ranged(height, width, align_corners=False, dtype=torch.float32):
    """By an arange up to 1, whose step is rounded."""
    sides = [torch.arange(-1, 1 + 2 / (n - 1), 2 / (n - 1)) for n in (height, width)]
    return torch.stack(torch.meshgrid(*sides, indexing="ij")[::-1], -1).to(dtype)


def images(gen):
    """Images of drawn sizes."""
    sizes = torch.randint(2, 40, (3, 2), generator=gen).tolist()
    return {
        "with -1 and 1 at the edges": given(*sizes[0]),
        "with -1 and 1 at the corner pixels": given(*sizes[1], align_corners=True),
        "in float16": given(*sizes[2], dtype=torch.float16),
    }


def sizes(gen):
    return [given(*size, align_corners=a) for size in [(4, 3), (2, 5), (13, 50)] for a in (False, True)]


def in_dtypes(gen):
    return [
        given(3, 7, align_corners=a, dtype=d) for d in (torch.float16, torch.bfloat16) for a in (False, True)
    ]


contract = Contract(
    "coordinate_grid(height, width)",
    reference=reference,
    inputs=images,
    suspects={
        "arange by a step that is rounded is a pixel longer at times: linspace counts": ranged,
        "y stands before x": lambda *size, **how: reference(*size, **how).flip(-1),
        "these are the pixels' left and upper edges": lambda height, width, **how: (
            reference(height, width) - torch.tensor([1 / max(width, 1), 1 / max(height, 1)])
        ),
        "this is the other convention of align_corners": lambda *size, align_corners=False, **how: reference(
            *size, not align_corners, **how
        ),
    },
    dims="row column xy",
    scale=1.0,
    job=[
        values(inputs=sizes, title="Every pixel's x and y are right, by both conventions."),
        values(inputs=in_dtypes, name="dtype_asked_for", title="The grid has the dtype that is asked for."),
        flat_cost(lambda side: (side, side), over="side"),
    ],
    fine=[
        values(
            inputs=lambda gen: [given(3, 7, align_corners=a, dtype=torch.float64) for a in (False, True)],
            name="float64",
            title="A float64 grid is right to its last digits.",
        ),
        values(
            inputs=lambda gen: [given(*size, align_corners=True) for size in [(1, 1), (1, 4), (3, 1)]],
            name="one_pixel",
            title="The only pixel along a side lies in the middle, at 0.",
        ),
        values(
            inputs=lambda gen: [
                given(*size, align_corners=a) for size in [(0, 3), (1, 0)] for a in (False, True)
            ],
            name="no_pixels",
            title="An image without rows or columns has an empty grid.",
        ),
    ],
)


def grids(answer, **how):
    return [answer.coordinate_grid(3, 4, align_corners=aligned, **how) for aligned in (False, True)]


def test_device_asked_for(answer, device):
    """The grid is on the device that is asked for."""
    found = [grid.device for grid in grids(answer, device=device)]
    expect_equal(found, [device] * 2, "the devices of coordinate_grid(3, 4, device=device)")


@pytest.mark.fine
def test_made_on_the_device(answer, device):
    """The grid is made on its device, without a copy from the CPU."""
    with count_traffic() as traffic:
        grids(answer, device=device)
    expect_no_traffic(traffic, "coordinate_grid(3, 4, device=device)")


@pytest.mark.fine
def test_default_dtype(answer):
    """Without a dtype, the grid has the one of torch.set_default_dtype."""
    with default_dtype(torch.float64):
        found = [grid.dtype for grid in grids(answer)]
    expect_equal(found, [torch.float64] * 2, "the dtypes of coordinate_grid(3, 4) with float64 as default")


@pytest.mark.fine
def test_default_device(answer, device):
    """Without a device, the grid is made on torch's default device."""
    with device:
        found = [grid.device for grid in grids(answer)]
    expect_equal(found, [device] * 2, "the devices of coordinate_grid(3, 4) with another default device")
