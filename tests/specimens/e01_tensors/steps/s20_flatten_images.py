"""Answers to flatten_images."""

from grader.authoring.specimen import Right, Wrong

FLAT = "images.flatten(1)"

SPECIMENS = [
    Wrong(
        "all in one row",
        edits=[(FLAT, "images.flatten()")],
        rung="job",
        check="test_worked_example",
        says="all images are in one row",
    ),
    Wrong(
        "from dim 2",
        edits=[(FLAT, "images.flatten(2)")],
        rung="job",
        check="test_values",
        says="apart by channel",
    ),
    Wrong(
        "one channel a row",
        edits=[(FLAT, "images.view(-1, images.shape[2] * images.shape[3])")],
        rung="job",
        check="test_values",
        says="one channel only",
    ),
    Right("by reshape", edits=[(FLAT, "images.reshape(len(images), -1)")]),
    Right(
        "one image after the other",
        edits=[
            (FLAT, "torch.stack([image.flatten() for image in images])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
