"""What grades center_crop: which pixels, leading dims, gradients; views, layouts, errors."""

import torch

from grader.checks.contract import (
    Contract,
    dtypes,
    empties,
    errors,
    strides,
    values,
    views,
)


def picked(images, height, width):
    """The crop by lists of rows and columns to keep."""

    def kept(size, wanted):
        before = 0
        for cut in range(size - wanted):
            before += cut % 2  # every second one is cut in front, the first one behind
        return list(range(before, before + wanted))

    rows, columns = kept(images.shape[-2], height), kept(images.shape[-1], width)
    return images[..., rows, :][..., columns]


def corner(images, height, width):
    return images[..., :height, :width]


def both_ends(images, height, width):
    top, left = (images.shape[-2] - height) // 2, (images.shape[-1] - width) // 2
    return images[..., top : images.shape[-2] - top, left : images.shape[-1] - left]


def from_offset(offset):
    """Crops with another offset than half of what is cut, rounded down."""

    def crop(images, height, width):
        top, left = offset(images.shape[-2], height), offset(images.shape[-1], width)
        return images[..., top : top + height, left : left + width]

    return crop


def draw(gen, *size):
    return torch.randn(size, generator=gen)


def images(gen):
    rows, columns = torch.randint(3, 7, (2,), generator=gen).tolist()
    return {
        "a batch, an odd number to cut": (draw(gen, 2, 3, rows + 3, columns + 5), rows, columns),
        "a mask, an even number to cut": (draw(gen, rows + 2, columns + 4), rows, columns),
        "a video": (draw(gen, 2, 1, 3, rows + 1, columns + 3), rows, columns),
        "images that keep their height": (draw(gen, 3, rows, columns + 2), rows, columns),
    }


def odd(gen):
    return [(draw(gen, 2, 7, 10), h, w) for h, w in [(2, 3), (4, 5), (6, 7)]]


def leading(gen):
    return [(draw(gen, *lead, 6, 8), 2, 4) for lead in [(), (1,), (3,), (2, 1, 3), (1, 2, 1, 2)]]


def full(gen):
    sizes = {"all rows": (5, 4), "all columns": (3, 8), "all of it": (5, 8)}
    return {about: (draw(gen, 2, 5, 8), *size) for about, size in sizes.items()}


def laid_out(gen):
    return {
        "images, channels last": (draw(gen, 2, 5, 6, 3).permute(0, 3, 1, 2), 3, 4),
        "a part of a larger image": (draw(gen, 9, 10)[1:7, 2:9], 2, 3),
        "all of an image": (draw(gen, 3, 5, 6).mT, 6, 5),
    }


def too_much(gen):
    return [(torch.zeros(4, 6), *size) for size in [(5, 3), (2, 7), (0, 3), (2, 0), (-1, 3), (2, -2)]]


contract = Contract(
    "center_crop(images, height, width)",
    reference=picked,
    inputs=images,
    gradient="images",
    suspects={
        "this is the top left corner, not the middle": corner,
        "height and width have changed places": lambda images, h, w: picked(images, w, h),
        "the offset is rounded to the next number, at times up: it is rounded down": from_offset(
            lambda size, kept: round((size - kept) / 2)
        ),
        "both sizes are halved and then subtracted: half of the difference is another number": from_offset(
            lambda size, kept: size // 2 - kept // 2
        ),
        "the same is cut from both ends: of an odd number, the bottom and the right lose one more": both_ends,
    },
    job=[
        values(
            inputs=lambda gen: [(draw(gen, 2, 3, 6, 9), 2, 3), (draw(gen, 2, 3, 9, 7), 5, 1)],
            title="The middle of each image of a batch is kept.",
        ),
        values(
            inputs=odd, name="odd", title="Of an odd number to cut, the bottom and the right lose one more."
        ),
        values(inputs=leading, name="leading_dims", title="Any number of leading dims comes through."),
        values(inputs=full, name="full_size", title="A crop of the full height or width keeps all of it."),
    ],
    fine=[
        views(inputs=laid_out),
        strides(),
        dtypes(torch.uint8, torch.bool, torch.float16),
        empties(),
        errors(ValueError, too_much, title="A crop that is empty or does not fit raises ValueError."),
        errors(
            ValueError,
            lambda gen: [(torch.zeros(5), 1, 1)],
            name="no_image",
            title="What has no rows and columns raises ValueError.",
        ),
    ],
)
