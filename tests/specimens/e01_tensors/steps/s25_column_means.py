"""Answers to column_means."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
MEAN, SUM = "sold.mean(dim=0)", "sold.sum(dim=1)"

SPECIMENS = [
    Wrong(
        "dims the other way round",
        edits=[(MEAN, "sold.mean(dim=1)"), (SUM, "sold.sum(dim=0)")],
        rung="job",
        check="test_values",
        says="confused",
    ),
    Wrong(
        "both of columns",
        edits=[(SUM, "sold.sum(dim=0)")],
        rung="job",
        check="test_worked_example",
        says="goes away",
    ),
    Wrong(
        "one number",
        edits=[(SUM, "sold.sum()")],
        rung="job",
        check="test_worked_example",
        says="`dim=` is missing",
    ),
    Wrong(
        "sums twice",
        edits=[(MEAN, "sold.sum(dim=0)")],
        rung="job",
        check="test_worked_example",
        says="sum and the mean",
    ),
    Right("transposed", edits=[(MEAN, "sold.T.mean(dim=1)"), (SUM, "sold.T.sum(dim=0)")]),
    Right(
        "loops",
        edits=[
            (MEAN, "torch.stack([column.mean() for column in sold.T])"),
            (SUM, "torch.stack([row.sum() for row in sold])"),
            TORCH,
        ],
    ),
]
