"""What grades center_crop: which pixels, leading dims, views, gradients, errors."""

import pytest
import torch

from grader.checks import (
    expect_equal,
    expect_gradients,
    expect_raises,
    expect_that,
    expect_view,
    peak_bytes,
    unchanged,
)

DIMS = {
    2: "row column",
    3: "channel row column",
    4: "batch channel row column",
    5: "batch time channel row column",
}


def picked(images, height, width):
    """The crop by lists of rows and columns to keep: slow and plain."""

    def kept(size, wanted):
        before = 0
        for cut in range(size - wanted):
            before += cut % 2  # every second one is cut in front, the first one behind
        return list(range(before, before + wanted))

    rows, columns = kept(images.shape[-2], height), kept(images.shape[-1], width)
    return images[..., rows, :][..., columns]


def distinct(sizes, dtype=torch.float32):
    return torch.arange(torch.Size(sizes).numel(), dtype=dtype).view(sizes)


def expect_crop(answer, images, height, width):
    wanted = picked(images, height, width)
    crop = answer.center_crop(images, height, width)
    call = f"center_crop(images of {tuple(images.shape)}, {height}, {width})"
    expect_equal(crop, wanted, call, dims=DIMS.get(images.ndim, ""))


@pytest.mark.parametrize("size", [(7, 10), (38, 38)], ids=str)
def test_the_middle(answer, size):
    """The right pixels are kept; of an odd number to cut, the bottom and the right lose one more."""
    image = distinct(size)
    for height, width in [(2, 4), (3, 4), (2, 5), (3, 5), (1, 1), (5, 2), (6, 8)]:
        expect_crop(answer, image, height, width)
    crop, wanted = answer.center_crop(image, width=5, height=2), picked(image, 2, 5)
    expect_equal(crop, wanted, "center_crop(image, width=5, height=2)", dims=DIMS[2])


def test_full_size(answer):
    """A crop of the full height or width keeps all rows or columns, and is a view as well."""
    images = distinct((2, 5, 4))
    for height, width in [(5, 4), (5, 2), (2, 4), (5, 3), (4, 4)]:
        expect_crop(answer, images, height, width)
    expect_crop(answer, distinct((3, 1, 1)), 1, 1)
    expect_view(answer.center_crop(images, 5, 4), images, "center_crop to the full size")
    images.requires_grad_()
    for height, width in [(5, 4), (2, 3)]:
        crop = answer.center_crop(images, height, width)
        expect_view(crop, images, f"center_crop(images, {height}, {width}) with requires_grad")


def test_leading_dims(answer):
    """Any number of leading dims comes through as it is."""
    for leading in [(), (2,), (2, 3), (2, 1, 3), (1, 2, 1, 2)]:
        images = distinct((*leading, 5, 8))
        expect_crop(answer, images, 2, 3)
        expect_crop(answer, images, 4, 7)


def test_empty_batch(answer):
    """A batch without images gives a batch of crops without images."""
    for leading in [(0,), (0, 3), (2, 0)]:
        for height, width in [(3, 4), (1, 1), (5, 8)]:
            expect_crop(answer, torch.zeros(*leading, 5, 8), height, width)
    crop = answer.center_crop(torch.zeros(0, 5, 8, requires_grad=True), 3, 4)
    expect_that(crop.requires_grad, "no gradient flows through center_crop of a batch without images")


def test_strided(answer):
    """Transposed, sliced, expanded and channels-last images are cropped like any others, without a copy."""
    base = distinct((8, 5, 3))
    channels_last = distinct((2, 5, 6, 3)).permute(0, 3, 1, 2)
    expanded = distinct((1, 6, 7)).expand(3, 6, 7)
    parts = distinct((4, 9, 10))  # a crop of a slice or of a crop starts in the middle of the storage
    slices = parts[1:3], parts[2], parts[:, 1:7, 2:9], parts[1::2, 3:, 1::2]
    for images in (base.permute(2, 1, 0), base[::2].transpose(0, 1), expanded, channels_last, *slices):
        expect_crop(answer, images, 2, 3)
        for size in ((2, 3), images.shape[-2:]):
            call = f"center_crop(images, {size[0]}, {size[1]}) of strided images"
            expect_view(answer.center_crop(images, *size), images, call)


def test_dtype_is_kept(answer):
    """Pixels of any dtype stay as they are, in the images' memory."""
    for dtype in (torch.uint8, torch.bool, torch.float16, torch.int64):
        images = (distinct((3, 6, 7), torch.int64) % 251).to(dtype)
        expect_crop(answer, images, 3, 3)
        expect_view(answer.center_crop(images, 3, 3), images, f"center_crop(images, 3, 3) of {dtype}")


def test_writes_reach_the_images(answer):
    """The crop is a view: writing into it writes into the images, at the right pixels and nowhere else."""
    images = torch.zeros(2, 5, 6)
    wanted = torch.zeros(2, 5, 6)
    wanted[:, 1:4, 1:5] = 1
    answer.center_crop(images, 3, 4).fill_(1)
    expect_equal(images, wanted, "images after center_crop(images, 3, 4).fill_(1)", dims="channel row column")


def test_nothing_is_copied(answer):
    """Cropping makes no new memory, not even for a while."""
    images = torch.zeros(3, 64, 64)
    made = peak_bytes(lambda: answer.center_crop(images, 32, 48))
    expect_that(made < 1000, "center_crop copies pixels", yours=f"{made} bytes", wanted="a view")


def test_images_are_left_alone(answer):
    """The images keep their shape and their values."""
    images = distinct((2, 5, 6))
    with unchanged("center_crop(images, 3, 4)", images=images):
        answer.center_crop(images, 3, 4)


def test_gradient(answer, gen):
    """Gradients flow to the pixels inside the crop, and the others get 0."""
    images = torch.randn(2, 5, 6, generator=gen)
    for height, width in [(2, 3), (5, 6), (1, 1)]:
        expect_gradients(
            lambda x, h=height, w=width: answer.center_crop(x, h, w),
            [images],
            lambda x, h=height, w=width: picked(x, h, w),
            gen=gen,
            call=f"center_crop(images, {height}, {width})",
            names="images",
        )


@pytest.mark.parametrize("shape", [(4, 6), (0, 4, 6)], ids=str)
def test_crop_that_does_not_fit(answer, shape):
    """A height or width below 1, or larger than the images', raises ValueError."""
    images = torch.zeros(shape)
    for height, width in [
        (5, 3),
        (2, 7),
        (5, 7),
        (6, 4),
        (0, 3),
        (2, 0),
        (-1, 3),
        (2, -2),
        (-2, -2),
        (5, -1),
    ]:
        call = f"center_crop(images of {shape}, {height}, {width})"
        expect_raises(ValueError, lambda h=height, w=width: answer.center_crop(images, h, w), call)


def test_images_without_pixels(answer):
    """Images without rows or columns have no crop: any height and width raises ValueError."""
    for shape in [(0, 5), (5, 0), (2, 3, 0, 4), (2, 4, 0)]:
        for height, width in [(1, 1), (0, 0), (*shape[-2:],)]:
            call = f"center_crop(images of {shape}, {height}, {width})"
            images = torch.zeros(shape)
            expect_raises(ValueError, lambda x=images, h=height, w=width: answer.center_crop(x, h, w), call)


def test_no_images(answer):
    """Tensors with fewer than two dims raise ValueError."""
    for tensor in (torch.zeros(5), torch.tensor(1.0), torch.zeros(0)):
        call = f"center_crop of a tensor of shape {tuple(tensor.shape)}"
        expect_raises(ValueError, lambda x=tensor: answer.center_crop(x, 1, 1), call)


def oracle(answer, gen):
    rows, columns = torch.randint(4, 12, (2,), generator=gen).tolist()
    images = torch.randn(2, 3, rows, columns, generator=gen, requires_grad=True)
    crop = answer.center_crop(images, rows - 1, 3)
    crop.backward(torch.randn(crop.shape, generator=gen))
    pixels = images.detach().clone()[0, 0]
    answer.center_crop(pixels, 3, columns - 3).zero_()
    return [crop.detach(), images.grad, pixels]
