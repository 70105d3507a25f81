"""Answers to running_total."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "sold.cumsum(dim=1)"

SPECIMENS = [
    Wrong(
        "down the rows",
        edits=[(LINE, "sold.cumsum(dim=0)")],
        rung="job",
        check="test_worked_example",
        says="from shop to shop",
    ),
    Wrong(
        "without the day itself",
        edits=[(LINE, "sold.cumsum(dim=1) - sold")],
        rung="job",
        check="test_values",
        says="its own day",
    ),
    Wrong(
        "over all shops",
        edits=[(LINE, "sold.flatten().cumsum(0).view(sold.shape)")],
        rung="job",
        check="test_values",
        says="goes on",
    ),
    Wrong(
        "sums",
        edits=[(LINE, "sold.sum(dim=1)")],
        rung="job",
        check="test_worked_example",
        says="one total for each shop",
    ),
    Right("the last dim", edits=[(LINE, "torch.cumsum(sold, -1)"), TORCH]),
    Right(
        "a loop",
        edits=[
            (
                "return " + LINE,
                "total = sold.clone()\n    for j in range(1, sold.shape[1]):\n"
                "        total[:, j] += total[:, j - 1]\n    return total",
            )
        ],
    ),
]
