"""Answers to channels_first."""

from grader.authoring.specimen import Right, Wrong

ORDERED = "image.permute(2, 0, 1)"

SPECIMENS = [
    Wrong(
        "a reshape",
        edits=[(ORDERED, "image.reshape(image.shape[2], image.shape[0], image.shape[1])")],
        rung="job",
        check="test_worked_example",
        says="colours are mixed up",
    ),
    Wrong(
        "a swap",
        edits=[(ORDERED, "image.transpose(0, 2)")],
        rung="job",
        check="test_worked_example",
        says="height and width are swapped",
    ),
    Wrong(
        "the other way round",
        edits=[(ORDERED, "image.permute(1, 2, 0)")],
        rung="job",
        check="test_values",
        says="in their new order",
    ),
    Right("two swaps", edits=[(ORDERED, "image.transpose(1, 2).transpose(0, 1)")]),
    Right(
        "channel by channel",
        edits=[
            (ORDERED, "torch.stack([image[..., c] for c in range(image.shape[-1])])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
