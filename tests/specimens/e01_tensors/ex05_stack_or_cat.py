"""Answers to stack_or_cat that people write."""

from grader.authoring.specimen import Right, Works, Wrong

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
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "mends the boxes only",
        edits=[(IMAGES, "torch.cat([image for image, _ in samples])")],
        check="test_values",
        says="joined along their channels",
        rung="job",
    ),
    Wrong(
        "counts only images with boxes in owner",
        edits=[("in enumerate(samples)]\n", "in enumerate([s for s in samples if len(s[1])] or samples)]\n")],
        check="test_images_without_boxes",
        rung="job",
    ),
    Wrong(
        "numbers the images from 1",
        edits=[("torch.full((len(found),), number, device", "torch.full((len(found),), number + 1, device")],
        check="test_values",
        says="numbered from 1",
        rung="job",
    ),
    Wrong(
        "owner in the dtype of the boxes",
        edits=[
            (
                "torch.full((len(found),), number, device=found.device)",
                "found.new_full((len(found),), number)",
            )
        ],
        check="test_values",
        says="int64",
        rung="job",
    ),
    Wrong(
        "no batch dimension for a batch of one",
        edits=[(IMAGES, IMAGES + ".squeeze(0)")],
        check="test_batch_of_one",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "owner as a list made into a tensor: float32 when there are no boxes",
        edits=[
            (
                OWNER,
                "    owners = [n for n, s in enumerate(samples) for _ in s[1]]\n"
                "    owner = torch.tensor(owners, device=boxes.device)\n",
            )
        ],
        check="test_no_boxes_at_all",
        says="float32",
    ),
    Wrong(
        "owner on the CPU",
        edits=[("number, device=found.device)", "number)")],
        check="test_all_on_the_device_of_the_samples",
        says="cpu",
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
        says="float32",
    ),
    Wrong(
        "boxes through Python lists",
        edits=[
            (
                BOXES,
                "torch.tensor(\n        [row for _, found in samples for row in found.tolist()],\n"
                "        dtype=samples[0][1].dtype,\n        device=samples[0][1].device,\n    ).view(-1, 4)",
            )
        ],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "a view for a batch of one",
        edits=[(IMAGES, "samples[0][0].unsqueeze(0) if len(samples) == 1 else " + IMAGES)],
        check="test_memory_of_its_own",
        says="view",
    ),
    Wrong(
        "clips the caller's boxes at 0",
        edits=[
            (
                "    boxes = torch.cat",
                "    for _, found in samples:\n        found.data.clamp_(min=0)\n    boxes = torch.cat",
            )
        ],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "leaves an empty batch to stack",
        edits=[
            (
                '        raise ValueError("a batch needs at least one sample")',
                '        raise RuntimeError("no samples")',
            )
        ],
        check="test_no_samples",
        says="RuntimeError",
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
        check="test_images_that_differ",
        says="no error",
    ),
    Wrong(
        "names the last sample that differs",
        edits=[
            (
                "    for number, (image, _) in enumerate(samples):\n        if image",
                "    for number, (image, _) in reversed(list(enumerate(samples))):\n        if image",
            )
        ],
        check="test_which_image_differs",
    ),
    Works(
        "the two swapped, and no more",
        code="""
import torch

def collate_detections(samples):
    images = torch.stack([image for image, _ in samples])
    boxes = torch.cat([found for _, found in samples])
    owner = torch.cat([torch.full((len(found),), number) for number, (_, found) in enumerate(samples)])
    return images, boxes, owner
""",
    ),
    Works(
        "lists that grow in a loop, as collate functions of SSD and YOLO ports have it",
        code="""
import torch

def collate_detections(samples):
    images, boxes, owner = [], [], []
    for i, (image, box) in enumerate(samples):
        images.append(image)
        for b in box:
            boxes.append(b)
            owner.append(i)
    return torch.stack(images, 0), torch.stack(boxes, 0), torch.tensor(owner)
""",
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
        "owner from a list, with its dtype; cat, then unflatten",
        edits=[
            (IMAGES, "torch.cat([image for image, _ in samples]).unflatten(0, (len(samples), -1))"),
            (
                OWNER,
                "    owners = [n for n, s in enumerate(samples) for _ in s[1]]\n"
                "    owner = torch.tensor(owners, dtype=torch.long, device=boxes.device)\n",
            ),
        ],
    ),
]
