"""What grades coordinate_grid: both conventions, small sides, dtypes, devices, cost."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost, expect_that, shares_storage
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, on_host


def centres(count, align_corners):
    """The centres along one side, one by one."""
    if align_corners:
        return [-1 + 2 * i / (count - 1) if count > 1 else 0.0 for i in range(count)]
    return [(2 * i + 1) / count - 1 for i in range(count)]


def reference(height, width, align_corners):
    ys, xs = centres(height, align_corners), centres(width, align_corners)
    points = [[x, y] for y in ys for x in xs]
    return torch.tensor(points, dtype=torch.float64).view(height, width, 2)


def expect_grid(answer, height, width, align_corners, dtype=None):
    asked = "" if dtype is None else f", dtype={dtype}"
    call = f"coordinate_grid({height}, {width}, align_corners={align_corners}{asked})"
    wanted = reference(height, width, align_corners).to(dtype or torch.float32)
    grid = answer.coordinate_grid(height, width, align_corners=align_corners, dtype=dtype)
    expect_close(grid, wanted, call, dims="row column xy", scale=1.0)


@pytest.mark.parametrize("align_corners", [False, True], ids=["edges", "corners"])
def test_every_pixel(answer, align_corners):
    """Every pixel's x and y are right, by both conventions."""
    for height, width in [(4, 3), (2, 5), (7, 7)]:
        expect_grid(answer, height, width, align_corners)


def test_side_of_one_pixel(answer):
    """The only pixel along a side lies in the middle, at 0."""
    for align_corners in (False, True):
        for height, width in [(1, 1), (1, 4), (3, 1)]:
            expect_grid(answer, height, width, align_corners)


def test_no_pixels(answer):
    """An image without rows or columns has an empty grid of the right shape."""
    for align_corners in (False, True):
        for height, width in [(0, 3), (0, 0), (1, 0)]:
            expect_grid(answer, height, width, align_corners)
        for height, width in [(0, 1), (2, 0)]:
            expect_grid(answer, height, width, align_corners, torch.float64)


def test_edges_are_the_default(answer):
    """Without align_corners, -1 and 1 are the edges of the image."""
    wanted = reference(3, 4, False).float()
    expect_close(answer.coordinate_grid(3, 4), wanted, "coordinate_grid(3, 4)", dims="row column xy")


@pytest.mark.parametrize("align_corners", [False, True], ids=["edges", "corners"])
def test_dtype_asked_for(answer, align_corners):
    """The grid has the dtype that was asked for, and float64 is exact to the last digits."""
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        expect_grid(answer, 3, 7, align_corners, dtype)
    sizes = [(1, 1, torch.bfloat16), (1, 4, torch.float64), (3, 1, torch.float16), (2, 135, torch.float64)]
    for height, width, dtype in sizes:
        expect_grid(answer, height, width, align_corners, dtype)


def every_400th(align_corners):
    """Every 400th column of a grid of 1×32801 pixels: a look at all takes ten times as long."""
    pixels = torch.arange(0, 32_801, 400).double()
    xs = 2 * pixels / 32_800 - 1 if align_corners else (2 * pixels + 1) / 32_801 - 1
    return torch.stack((xs, torch.zeros(len(xs))), dim=-1).unsqueeze(0).half()


WIDE = {align_corners: every_400th(align_corners) for align_corners in (False, True)}


def test_float16_does_not_overflow(answer):
    """A float16 grid is right along a side whose pixel numbers, doubled, float16 cannot hold."""
    for dtype, align_corners in [(torch.float16, True), (None, False)]:
        asked = f"align_corners={align_corners}, dtype={dtype}" if dtype else "…"
        call = f"coordinate_grid(1, 32801, {asked})" + ("" if dtype else " with float16 as default")
        with default_dtype(dtype or torch.float16):
            grid = answer.coordinate_grid(1, 32_801, align_corners=align_corners, dtype=dtype)
        expect_equal(getattr(grid, "shape", None), torch.Size((1, 32_801, 2)), f"the shape of {call}")
        about = f"every 400th column of {call}"
        expect_close(grid[:, ::400], WIDE[align_corners], about, dims="row column xy", scale=1.0)


def test_default_dtype(answer):
    """Without a dtype, grids and transforms of integer images follow torch.set_default_dtype."""
    images = torch.zeros(2, 3, 4, 5, dtype=torch.uint8)
    # the answers to the same calls before must not come back
    answer.coordinate_grid(3, 4), answer.coordinate_grid(1, 1, align_corners=True)
    answer.identity_transforms(images)
    with default_dtype(torch.float64):
        grid, corners = answer.coordinate_grid(3, 4), answer.coordinate_grid(3, 4, align_corners=True)
        single = answer.coordinate_grid(1, 1, align_corners=True)
        transforms = answer.identity_transforms(images)
    expect_close(grid, reference(3, 4, False), "coordinate_grid(3, 4) with float64 as default")
    expect_close(
        corners, reference(3, 4, True), "coordinate_grid(3, 4, align_corners=True) with float64 as default"
    )
    expect_equal(single.dtype, torch.float64, "the dtype of a 1×1 grid with float64 as default")
    expect_equal(
        transforms.dtype,
        torch.float64,
        "the dtype of identity_transforms(uint8 images) with float64 as default",
    )


def test_default_device(answer, device):
    """Without a device, the grid is made on torch's default device, whatever it was at the call before."""
    for aligned in (False, True):
        answer.coordinate_grid(3, 4, align_corners=aligned)
    with count_traffic() as traffic, device:
        grids = [answer.coordinate_grid(3, 4, align_corners=aligned) for aligned in (False, True)]
    for grid in grids:
        where = str(getattr(grid, "device", None))
        expect_that(
            where == str(device), "the grid is not on torch's default device", yours=where, wanted=str(device)
        )
    expect_no_traffic(traffic, "coordinate_grid(3, 4) with another default device")


def test_made_on_the_device(answer, device):
    """The grid is made on the device that is asked for; nothing is copied there from the CPU."""
    for sizes, kind, align_corners in [
        ((3, 4), torch.device, False),
        ((3, 4), torch.device, True),
        ((1, 1), str, False),
        ((1, 1), str, True),
        ((0, 3), str, False),
    ]:
        call = f"coordinate_grid{sizes} with align_corners={align_corners} and a device"
        wanted = reference(*sizes, align_corners).float()
        with count_traffic() as traffic:
            grid = answer.coordinate_grid(*sizes, align_corners=align_corners, device=kind(device))
        expect_that(
            grid.device == device, f"{call} is on another device", yours=str(grid.device), wanted=str(device)
        )
        expect_close(on_host(grid), wanted, call, dims="row column xy", scale=1.0)
        expect_no_traffic(traffic, call)


def test_no_loop(answer):
    """The number of operations does not grow with the size of the image."""

    def make(side):
        return lambda: (
            answer.coordinate_grid(side, side),
            answer.coordinate_grid(side, side, align_corners=True),
        )

    # small sides: pixel by pixel is dear
    expect_flat_cost(make, "coordinate_grid(side, side)", sizes=(6, 14), over="side")


def expect_room_for_each(tensor, one, others):
    """Fail where a number that is written to the first place of two dimensions is seen in others."""
    wanted = tensor.clone()
    tensor[0, 0] += 2
    wanted[0, 0] += 2
    expect_that(
        bool(tensor.eq(wanted).all()),
        f"{one} cannot be written to without changing {others}",
        wanted="memory for each number",
        likely="`expand` gives a view; `repeat` or `clone` makes memory",
    )


def test_fresh_memory(answer):
    """Writing into one grid, or into the transforms of one call, does not show in the next one."""
    for align_corners in (False, True):
        first = answer.coordinate_grid(2, 3, align_corners=align_corners)
        second = answer.coordinate_grid(2, 3, align_corners=align_corners)
        expect_that(
            not shares_storage(first, second),
            f"two calls with align_corners={align_corners} return grids that share memory",
        )
        expect_that(not first.is_inference(), "a grid is an inference tensor, which may not be written to")
        expect_that(not first.requires_grad, "a grid requires gradients, and may not be written to")
        expect_room_for_each(first[:, :, 0], "the x of one pixel", "the x of other pixels")
    for dtype, batch in ((torch.float32, 3), (torch.uint8, 3), (torch.float32, 1)):
        images = torch.zeros(batch, 1, 4, 2, dtype=dtype, requires_grad=batch == 1)
        first, second = answer.identity_transforms(images), answer.identity_transforms(images)
        expect_that(
            not shares_storage(first, second),
            f"two calls with {batch} images in {dtype} return transforms that share memory",
        )
        expect_that(
            not first.is_inference(), "transforms are an inference tensor, which may not be written to"
        )
        expect_that(not first.requires_grad, "transforms require gradients, and may not be written to")
        expect_room_for_each(first[:, 0], "the transform of one image", "those of others")


FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.uint8, torch.int16, torch.int64, torch.uint16, torch.bool]


@pytest.mark.parametrize("dtypes", [FLOATS, INTEGERS], ids=["floats", "integers"])
def test_identity_in_the_images_dtype(answer, dtypes):
    """The transforms have the images' dtype, or float32 for integers and bools, for any batch."""
    for dtype in dtypes:
        pixel = math.nan if dtype.is_floating_point else 7  # no pixel is looked at
        one = torch.tensor(
            [[[1, 0, 0], [0, 1, 0]]], dtype=dtype if dtype.is_floating_point else torch.float32
        )
        for batch, height, width in ((3, 2, 4), (1, 1, 1), (0, 2, 4)):
            images = torch.full((batch, 3, height, width), pixel, dtype=dtype)
            call = f"identity_transforms(images) of {batch} images of {height}×{width} pixels in {dtype}"
            yours = answer.identity_transforms(images)
            expect_equal(yours, one.repeat(batch, 1, 1), call, dims="image row column")


def test_identity_is_made_on_the_device(answer, device):
    """The transforms are made where the images are, without a copy from the CPU."""
    images = torch.zeros(2, 3, 4, 5).to(device)
    with count_traffic() as traffic:
        transforms = answer.identity_transforms(images)
    where = str(transforms.device)
    expect_that(
        transforms.device == device, "the transforms are on another device than the images", yours=where
    )
    expect_equal(on_host(transforms), torch.eye(2, 3).repeat(2, 1, 1), "identity_transforms(images)")
    expect_no_traffic(traffic, "identity_transforms(images)")


def test_no_loop_over_images(answer):
    """The number of operations for the transforms does not grow with the batch."""

    def make(batch):
        images = torch.zeros(batch, 1, 2, 2)
        return lambda: answer.identity_transforms(images)

    expect_flat_cost(make, "identity_transforms(images)", over="batch")


def oracle(answer, gen):
    height, width, batch = torch.randint(2, 9, (3,), generator=gen).tolist()
    images = torch.rand(batch, 3, height, width, generator=gen, dtype=torch.float64)
    return [
        answer.coordinate_grid(height, width),
        answer.coordinate_grid(height, width, align_corners=True, dtype=torch.float64),
        answer.coordinate_grid(1, width, align_corners=True),
        answer.identity_transforms(images),
    ]
