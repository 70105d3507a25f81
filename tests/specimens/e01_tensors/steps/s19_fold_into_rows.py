"""Answers to fold_into_rows."""

from grader.authoring.specimen import Right, Wrong

TABLE = "x.view(-1, width)"

SPECIMENS = [
    Wrong(
        "width rows",
        edits=[(TABLE, "x.view(width, -1)")],
        rung="job",
        check="test_worked_example",
        says="a shape begins with the rows",
    ),
    Wrong(
        "down the columns",
        edits=[(TABLE, "x.view(width, -1).T")],
        rung="job",
        check="test_worked_example",
        says="down the columns",
    ),
    Wrong(
        "one size",
        edits=[(TABLE, "x.view(width)")],
        rung="job",
        check="test_worked_example",
        says="two sizes",
    ),
    Wrong("two rows", edits=[(TABLE, "x.view(2, width)")], rung="job", check="test_values"),
    Right("both sizes", edits=[(TABLE, "x.reshape(len(x) // width, width)")]),
    Right(
        "row by row",
        edits=[
            (TABLE, "torch.stack([x[i : i + width] for i in range(0, len(x), width)])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
