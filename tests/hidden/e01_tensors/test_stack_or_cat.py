"""What grades stack_or_cat: shapes, images without boxes, dtypes, devices, memory, bad input."""

import pytest
import torch

from grader.checks import expect_equal, expect_gradients
from grader.checks.contract import Contract, errors, own_memory, untouched, values

CALL = "collate_detections(samples)"
SIZES = (3, 5, 7)


def draw(counts, gen, sizes=SIZES):
    """One sample for each count of boxes."""
    return [(torch.randn(sizes, generator=gen), torch.randn(n, 4, generator=gen)) for n in counts]


def batches(gen):
    return {
        "images with 2, 0, 1 and 3 boxes": draw((2, 0, 1, 3), gen),
        "three images with 2 boxes each": draw((2, 2, 2), gen),
        "one image": draw((3,), gen),
    }


def drawn(*counts):
    return lambda gen: {f"images with {some} boxes": draw(some, gen) for some in counts}


def collated(samples):
    """Number by number, into tensors of the right size."""
    images = samples[0][0].new_zeros(len(samples), *samples[0][0].shape)
    rows, owner = [], []
    for number, (image, boxes) in enumerate(samples):
        images[number] = image
        rows += list(boxes)
        owner += [number] * len(boxes)
    boxes = torch.stack(rows) if rows else samples[0][1].clone()
    return images, boxes, torch.tensor(owner, dtype=torch.int64)


def with_others(*others):
    """Twelve samples and more: at these numbers they have an image of another shape."""

    def inputs(gen):
        found = {}
        for sizes in others:
            samples = draw((1,) * 24, gen)
            samples[11] = samples[17] = draw((1,), gen, sizes)[0]
            found[f"images of {SIZES}, and of {sizes} at 11 and 17"] = samples
        return found

    return inputs


def in_dtypes(gen):
    pairs = [(torch.uint8, torch.float64), (torch.float16, torch.int32)]
    return {
        f"{images} images and {boxes} boxes": [
            ((90 * x).abs().to(images), (90 * b.double() / 7).to(boxes)) for x, b in draw((2, 0, 1), gen)
        ]
        for images, boxes in pairs
    }


def changed(image=lambda x: x, boxes=lambda x: x, owner=lambda x: x):
    """What comes of a mistake in one of the three."""

    def mistaken(samples):
        right = collated(samples)
        return image(right[0]), boxes(right[1]), owner(right[2])

    return mistaken


contract = Contract(
    CALL,
    reference=collated,
    inputs=batches,
    suspects={
        "the images are joined along their channels, or one alone is not put into a batch: stack": changed(
            image=lambda x: x.flatten(0, 1)
        ),
        "only images with boxes are counted: one without boxes is an image, too": changed(
            owner=lambda x: x.unique(return_inverse=True)[1]
        ),
        "images are numbered from 1": changed(owner=lambda x: x + 1),
    },
    dims=("image channel row column", "box coordinate", "box"),
    job=[
        values(
            inputs=drawn((2, 1, 4), (1, 3)),
            title="Images are stacked in order, boxes follow each other, owner tells whose each is.",
        ),
        values(
            inputs=drawn((2, 2, 2)),
            name="equal_numbers_of_boxes",
            title="Boxes are one list even where each image has the same number of them.",
        ),
        values(
            inputs=drawn((0, 4, 0, 5), (1, 0)),
            name="images_without_boxes",
            title="An image without boxes counts as an image, and adds no boxes.",
        ),
        values(inputs=drawn((3,)), name="batch_of_one", title="A batch of one sample has a batch dimension."),
    ],
    fine=[
        values(
            inputs=drawn((0, 0)),
            name="no_boxes_at_all",
            title="Where no image has a box, boxes is (0, 4) and owner is int64.",
        ),
        values(inputs=in_dtypes, name="dtypes_are_kept", title="Images and boxes keep their dtypes."),
        untouched(title="The samples stay as they are."),
        own_memory(
            inputs=drawn((3,), (0, 3, 0)),
            title="The batch shares no memory with the samples, also where one alone has an image or boxes.",
        ),
        errors(ValueError, lambda gen: {"no samples": []}, name="no_samples"),
        errors(
            ValueError,
            with_others((3, 7, 5), (1, 5, 7), (3, 5, 1), (4, 5, 7)),
            name="images_that_differ",
            title="An image of another shape raises ValueError.",
        ),
        errors(
            ValueError,
            with_others((3, 9, 9)),
            words="11",
            name="which_image_differs",
            title="The error tells the number of the first image that differs.",
        ),
    ],
)


@pytest.mark.fine
def test_gradient(answer, gen):
    """Gradients flow back to the image and the boxes that each number came from."""

    def joined(collate):
        def forward(*parts):
            images, boxes, _ = collate(list(zip(parts[::2], parts[1::2], strict=True)))
            return torch.cat([images.flatten(), boxes.flatten()])

        return forward

    inputs = [part for sample in draw((1, 3), gen) for part in sample]
    names = "image_0 boxes_0 image_1 boxes_1"
    fn, reference = joined(answer.collate_detections), joined(collated)
    expect_gradients(fn, inputs, reference, gen=gen, call=CALL, names=names)


@pytest.mark.fine
def test_all_on_the_device_of_the_samples(answer, device, gen):
    """Images, boxes and owner lie on the device of the samples."""
    there = [(image.to(device), boxes.to(device)) for image, boxes in draw((2, 0, 1), gen)]
    batch = answer.collate_detections(there)
    found = [part.device for part in batch]
    expect_equal(found, [device] * 3, f"the devices of {CALL}")
