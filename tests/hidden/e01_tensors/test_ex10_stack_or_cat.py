"""What grades stack_or_cat: shapes, samples without boxes, dtypes, devices, memory, bad input."""

import torch

from grader.checks import expect_copy, expect_equal, expect_gradients, expect_raises, expect_that, unchanged
from grader.checks.devices import on_host

CALL = "collate_detections(samples)"
SIZES = (3, 5, 7)


def draw(counts, gen, sizes=SIZES):
    """One sample for each count of boxes, all numbers distinct."""
    return [(torch.randn(sizes, generator=gen), torch.randn(n, 4, generator=gen)) for n in counts]


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


def expect_batch(yours, wanted, about):
    images, boxes, owner = wanted
    expect_equal(type(yours), tuple, f"the type of {CALL}")
    expect_equal(len(yours), 3, f"the number of results of {CALL}")
    expect_equal(yours[0], images, f"images of {about}", dims="batch channels height width")
    expect_equal(yours[1], boxes, f"boxes of {about}")
    expect_equal(yours[2], owner, f"owner of {about}")


def test_a_batch(answer, gen):
    """Images are stacked in order, boxes follow each other, owner tells whose each is; the list stays."""
    for counts in [(2, 1, 4), (1, 3)]:
        samples = draw(counts, gen)
        wanted, before = collated(samples), list(samples)
        expect_batch(answer.collate_detections(samples), wanted, f"samples with {counts} boxes")
        same = len(samples) == len(before) and all(a is b for a, b in zip(samples, before, strict=True))
        expect_that(same, f"{CALL} changes the list of samples")


def test_equal_numbers_of_boxes(answer, gen):
    """Boxes are one list even where each image has the same number of them."""
    samples = draw((2, 2, 2), gen)
    wanted = collated(samples)
    expect_batch(answer.collate_detections(samples), wanted, "samples with 2 boxes each")


def test_images_without_boxes(answer, gen):
    """An image without boxes counts as an image, and adds no boxes."""
    for counts in [(0, 2, 0, 1), (1, 0), (0, 0)]:
        samples = [(image, boxes.double()) for image, boxes in draw(counts, gen)]
        wanted = collated(samples)
        expect_batch(answer.collate_detections(samples), wanted, f"samples with {counts} boxes")


def test_batch_of_one(answer, gen):
    """A batch of one sample has a batch dimension, and shares no memory with the sample."""
    samples = draw((3,), gen)
    wanted = collated(samples)
    batch = answer.collate_detections(samples)
    expect_batch(batch, wanted, "one sample")
    expect_copy(batch[0], samples[0][0], f"images of {CALL}")
    expect_copy(batch[1], samples[0][1], f"boxes of {CALL}")


def test_boxes_of_one_sample_only(answer, gen):
    """Boxes share no memory with the samples, even if they all come from one of them."""
    samples = draw((0, 3, 0), gen)
    batch = answer.collate_detections(samples)
    expect_copy(batch[1], samples[1][1], f"boxes of {CALL}, where only sample 1 has any,")


def test_a_tuple_of_transposed_samples(answer, gen):
    """Samples may come in a tuple, with images that are not contiguous; they are not changed."""
    samples = tuple((image.permute(2, 0, 1), boxes[::2]) for image, boxes in draw((3, 4), gen))
    wanted = collated(samples)
    with unchanged(
        CALL, image_0=samples[0][0], boxes_0=samples[0][1], image_1=samples[1][0], boxes_1=samples[1][1]
    ):
        batch = answer.collate_detections(samples)
    expect_batch(batch, wanted, "a tuple of transposed samples")


def test_dtypes_are_kept(answer, gen):
    """Images and boxes keep their dtypes, down to the last digit; owner is int64."""
    for image_dtype, box_dtype in [(torch.uint8, torch.float64), (torch.float16, torch.int32)]:
        samples = [
            ((90 * x).to(image_dtype), (90 * b.double() / 7).to(box_dtype)) for x, b in draw((2, 0, 1), gen)
        ]
        samples = [(x.abs() if image_dtype.is_floating_point else x, b) for x, b in samples]
        wanted = collated(samples)
        expect_batch(
            answer.collate_detections(samples), wanted, f"{image_dtype} images and {box_dtype} boxes"
        )
    many = [(torch.zeros(1, 1, 1), torch.zeros(1, 4, dtype=torch.bfloat16))] * 258
    expect_equal(
        answer.collate_detections(many)[2], torch.arange(258), "owner of 258 samples with boxes in bfloat16"
    )


def test_gradient(answer, gen):
    """Gradients flow back to the image and the boxes that each number came from."""

    def joined(collate):
        def forward(*parts):
            images, boxes, _ = collate(list(zip(parts[::2], parts[1::2], strict=True)))
            return torch.cat([images.flatten(), boxes.flatten()])

        return forward

    fn, reference = joined(answer.collate_detections), joined(collated)
    for counts, names in [((1, 3), "image_0 boxes_0 image_1 boxes_1"), ((2,), "image_0 boxes_0")]:
        inputs = [part for sample in draw(counts, gen) for part in sample]
        expect_gradients(fn, inputs, reference, gen=gen, call=CALL, names=names)


def test_all_on_the_device_of_the_samples(answer, device, gen):
    """Images, boxes and owner lie on the device of the samples."""
    for counts in ((2, 0, 1), (0, 0)):
        samples = draw(counts, gen)
        wanted = collated(samples)
        there = [(image.to(device), boxes.to(device)) for image, boxes in samples]
        batch = answer.collate_detections(there)
        for name, part in zip(("images", "boxes", "owner"), batch, strict=True):
            where = f"the device of {name}, of samples with {counts} boxes"
            expect_equal(part.device, there[0][0].device, where)
        expect_batch(tuple(on_host(part) for part in batch), wanted, "samples on another device")


def test_images_that_differ_in_shape(answer, gen):
    """An image of another shape raises ValueError, with the number of the first such sample."""
    for sizes in [
        (3, 5, 8),
        (3, 6, 7),
        (4, 5, 7),
        (3, 7, 5),
        (1, 5, 7),
        (3, 5, 1),
        (5, 7),
        (3, 5),
        (1, 3, 5, 7),
        (3, 0, 7),
    ]:
        samples = draw((1,) * 12, gen)
        samples[11:11] = draw((1,), gen, sizes)
        call = f"{CALL}, where sample 11 has an image of {sizes}, and the others of {SIZES}"
        expect_raises(
            ValueError, lambda samples=samples: answer.collate_detections(samples), call, words="11"
        )
    for sizes in ((1, 1, 1), (9, 9, 9)):
        samples = draw((1,), gen, sizes) + draw((1, 2), gen)
        call = f"{CALL}, where sample 0 has an image of {sizes}, and the others of {SIZES}"
        expect_raises(ValueError, lambda samples=samples: answer.collate_detections(samples), call, words="1")
    for none in ((), []):
        call = f"collate_detections({none})"
        expect_raises(ValueError, lambda none=none: answer.collate_detections(none), call)


def test_the_first_of_several_that_differ(answer, gen):
    """Where several images differ, the number is that of the first of them."""
    samples = draw((1,) * 24, gen)
    samples[17] = samples[22] = draw((1,), gen, (3, 9, 9))[0]
    call = f"{CALL}, where samples 17 and 22 differ"
    expect_raises(ValueError, lambda: answer.collate_detections(samples), call, words="17")


def oracle(answer, gen):
    samples = [(torch.randn(2, 3, 4, generator=gen), torch.randn(n, 4, generator=gen)) for n in (2, 0, 3)]
    for image, boxes in samples:
        image.requires_grad_()
        boxes.requires_grad_()
    images, boxes, owner = answer.collate_detections(samples)
    (images * torch.randn(images.shape, generator=gen)).sum().backward()
    (boxes * torch.randn(boxes.shape, generator=gen)).sum().backward()
    return [images.detach(), boxes.detach(), owner, samples[1][0].grad, samples[2][1].grad]
