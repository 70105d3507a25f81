"""Answers to stack_or_cat that people write."""

from grader.authoring.specimen import Right, Wrong

IMAGES = "torch.stack([image for image, _ in samples])"
BOXES = "torch.cat([found for _, found in samples])"
OWNER = """    owner = torch.cat(
        [torch.full((len(found),), number, device=found.device) for number, (_, found) in enumerate(samples)]
    )  # (total,)
"""
CHECK = """        if image.shape != first:
            raise ValueError(
                f"sample {number} has an image of {tuple(image.shape)}, sample 0 of {tuple(first)}"
            )
"""

SPECIMENS = [
    Wrong(
        "mends the images only",
        edits=[(BOXES, "torch.stack([found for _, found in samples])")],
        check="test_equal_numbers_of_boxes",
    ),
    Wrong(
        "mends the boxes only",
        edits=[(IMAGES, "torch.cat([image for image, _ in samples])")],
        check="test_a_batch",
    ),
    Wrong(
        "stacks along a new last dimension",
        edits=[(IMAGES, "torch.stack([image for image, _ in samples], dim=-1)")],
        check="test_a_batch",
    ),
    Wrong(
        "pads the boxes",
        edits=[(BOXES, "torch.nn.utils.rnn.pad_sequence([found for _, found in samples], batch_first=True)")],
        check="test_a_batch",
    ),
    Wrong(
        "flattens padded boxes",
        edits=[
            (
                BOXES,
                "torch.nn.utils.rnn.pad_sequence([found for _, found in samples], batch_first=True).flatten(0, 1)",
            )
        ],
        check="test_a_batch",
    ),
    Wrong(
        "drops images without boxes",
        edits=[
            (
                "    first = samples[0][0].shape\n",
                "    samples = [s for s in samples if len(s[1])]\n    first = samples[0][0].shape\n",
            )
        ],
        check="test_images_without_boxes",
    ),
    Wrong(
        "counts only images with boxes in owner",
        edits=[("in enumerate(samples)]\n", "in enumerate([s for s in samples if len(s[1])] or samples)]\n")],
        check="test_images_without_boxes",
    ),
    Wrong(
        "numbers the images from 1",
        edits=[("torch.full((len(found),), number, device", "torch.full((len(found),), number + 1, device")],
        check="test_a_batch",
    ),
    Wrong(
        "owner in the dtype of the boxes",
        edits=[
            (
                "torch.full((len(found),), number, device=found.device)",
                "found.new_full((len(found),), number)",
            )
        ],
        check="test_a_batch",
        says="int64",
    ),
    Wrong(
        "owner as a list made into a tensor: float32 when there are no boxes",
        edits=[
            (
                OWNER,
                "    owner = torch.tensor([n for n, s in enumerate(samples) for _ in s[1]], device=boxes.device)\n",
            )
        ],
        check="test_images_without_boxes",
    ),
    Wrong(
        "owner on the CPU",
        edits=[("number, device=found.device)", "number)")],
        check="test_all_on_the_device_of_the_samples",
    ),
    Wrong(
        "casts images to float32",
        edits=[(IMAGES, "torch.stack([image.float() for image, _ in samples])")],
        check="test_dtypes_are_kept",
        says="uint8",
    ),
    Wrong(
        "boxes through Python lists",
        edits=[(BOXES, "torch.tensor([row for _, found in samples for row in found.tolist()]).view(-1, 4)")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "fills a tensor of float32",
        edits=[
            (
                IMAGES,
                "torch.empty(len(samples), *first, device=samples[0][0].device)\n"
                "    for number, (image, _) in enumerate(samples):\n        images[number] = image",
            )
        ],
        check="test_dtypes_are_kept",
    ),
    Wrong(
        "a view for a batch of one",
        edits=[(IMAGES, "samples[0][0].unsqueeze(0) if len(samples) == 1 else " + IMAGES)],
        check="test_batch_of_one",
        says="view",
    ),
    Wrong(
        "no batch dimension for a batch of one",
        edits=[(IMAGES, IMAGES + ".squeeze(0)")],
        check="test_batch_of_one",
    ),
    Wrong(
        "scales the caller's boxes",
        edits=[
            (
                "    boxes = torch.cat",
                "    for _, found in samples:\n        found.data.mul_(1.0 if found.is_contiguous() else 2)\n    boxes = torch.cat",
            )
        ],
        check="test_a_tuple_of_transposed_samples",
        says="changes",
    ),
    Wrong(
        "takes the samples off the caller's list",
        edits=[
            (
                "    return images, boxes, owner",
                "    if isinstance(samples, list):\n        samples.clear()\n    return images, boxes, owner",
            )
        ],
        check="test_a_batch",
        says="changes the list",
    ),
    Wrong(
        "leaves images of different shapes to stack",
        edits=[(CHECK, "        pass\n")],
        check="test_images_that_differ_in_shape",
        says="RuntimeError",
    ),
    Wrong(
        "reshapes, which lets a turned image through",
        edits=[
            ("image.shape != first", "image.numel() != first.numel()"),
            (IMAGES, "torch.stack([image.reshape(first) for image, _ in samples])"),
        ],
        check="test_images_that_differ_in_shape",
        says="no error",
    ),
    Wrong(
        "relies on the error of an assignment, which broadcasts instead",
        edits=[
            (CHECK, "        pass\n"),
            (
                IMAGES,
                "samples[0][0].new_empty((len(samples), *first))\n"
                "    for number, (image, _) in enumerate(samples):\n"
                "        try:\n            images[number] = image\n"
                "        except RuntimeError:\n            raise ValueError(f'image of sample {number}') from None\n",
            ),
        ],
        check="test_images_that_differ_in_shape",
        says="no error",
    ),
    Wrong(
        "hands on the boxes of the only sample that has some",
        edits=[
            (
                "    return images, boxes, owner",
                "    some = [found for _, found in samples if len(found)]\n"
                "    return images, some[0] if len(some) == 1 and len(samples) > 1 else boxes, owner",
            )
        ],
        check="test_boxes_of_one_sample_only",
        says="view",
    ),
    Wrong(
        "compares height and width only",
        edits=[("image.shape != first", "image.shape[1:] != first[1:]")],
        check="test_images_that_differ_in_shape",
    ),
    Wrong(
        "an error that does not say which sample",
        edits=[
            (
                'f"sample {number} has an image of {tuple(image.shape)}, sample 0 of {tuple(first)}"',
                '"shapes differ"',
            )
        ],
        check="test_images_that_differ_in_shape",
        says="does not say enough",
    ),
    Wrong(
        "names the last sample that differs",
        edits=[
            (
                "    for number, (image, _) in enumerate(samples):\n        if image",
                "    for number, (image, _) in reversed(list(enumerate(samples))):\n        if image",
            )
        ],
        check="test_the_first_of_several_that_differ",
    ),
    Wrong(
        "leaves an empty batch to stack",
        edits=[
            (
                '        raise ValueError("a batch needs at least one sample")',
                '        raise RuntimeError("no samples")',
            )
        ],
        check="test_images_that_differ_in_shape",
        says="RuntimeError",
    ),
    Wrong(
        "hands back a list",
        edits=[("return images, boxes, owner", "return [images, boxes, owner]")],
        check="test_a_batch",
    ),
    Wrong(
        "compares with the shape that most images have: names sample 0 itself",
        edits=[
            (
                "    first = samples[0][0].shape\n",
                "    shapes = [image.shape for image, _ in samples]\n    first = max(shapes, key=shapes.count)\n",
            ),
        ],
        check="test_images_that_differ_in_shape",
        says="(9, 9, 9)",
    ),
    Wrong(
        "fills a column of the boxes: numbers in their dtype, which bfloat16 rounds",
        edits=[
            (
                "torch.full((len(found),), number, device=found.device)",
                "torch.full_like(found[:, 0], number).long()",
            )
        ],
        check="test_dtypes_are_kept",
        says="owner of 258 samples",
    ),
    Wrong(
        "boxes of its own making where no image has any, in the default dtype",
        edits=[
            (
                "    boxes = torch.cat([found for _, found in samples])  # (total, 4)\n",
                "    some = [found for _, found in samples if len(found)]\n"
                "    boxes = torch.cat(some) if some else torch.zeros(0, 4, device=images.device)\n",
            )
        ],
        check="test_images_without_boxes",
        says="float64",
    ),
    Right(
        "cat of unsqueezed images, repeat_interleave",
        code="""
import torch

def collate_detections(samples):
    if not samples:
        raise ValueError("empty")
    images, boxes = zip(*samples)
    for i, image in enumerate(images):
        if image.shape != images[0].shape:
            raise ValueError("image %d differs" % i)
    counts = torch.tensor([len(b) for b in boxes], device=boxes[0].device)
    owner = torch.arange(len(boxes), device=boxes[0].device).repeat_interleave(counts)
    return torch.cat([image[None] for image in images]), torch.vstack(boxes), owner
""",
    ),
    Right(
        "owner from a list, with its dtype",
        edits=[
            (
                OWNER,
                "    owner = torch.tensor([n for n, s in enumerate(samples) for _ in s[1]], dtype=torch.long, device=boxes.device)\n",
            )
        ],
    ),
    Right(
        "boxes made anew where no sample has any",
        edits=[
            (
                BOXES,
                "torch.cat([found for _, found in samples]) if any(len(found) for _, found in samples) "
                "else samples[0][1].new_zeros(0, 4)",
            )
        ],
    ),
    Right(
        "cat, then unflatten",
        edits=[(IMAGES, "torch.cat([image for image, _ in samples]).unflatten(0, (len(samples), -1))")],
    ),
    Wrong(
        "owners only of samples with boxes, and where there are none, an empty tensor on the CPU",
        edits=[
            (
                OWNER,
                """    owners = [torch.full((len(s[1]),), n, device=boxes.device) for n, s in enumerate(samples) if len(s[1])]
    owner = torch.cat(owners) if owners else torch.zeros(0, dtype=torch.int64)
""",
            )
        ],
        check="test_all_on_the_device_of_the_samples",
        says="(0, 0) boxes",
    ),
]
