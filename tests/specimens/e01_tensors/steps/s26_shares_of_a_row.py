"""Answers to shares_of_a_row."""

from grader.authoring.specimen import Right, Wrong

SUM = "sold.sum(dim=1, keepdim=True)"

SPECIMENS = [
    Wrong("no keepdim", edits=[(SUM, "sold.sum(dim=1)")], rung="job", check="test_values", says="keepdim"),
    Wrong("columns", edits=[(SUM, "sold.sum(dim=0)")], rung="job", check="test_worked_example"),
    Wrong("the sum of everything", edits=[(SUM, "sold.sum()")], rung="job", check="test_worked_example"),
    Right(
        "a loop",
        edits=[
            ("sold / " + SUM, "torch.stack([row / row.sum() for row in sold])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right("a column of sums", edits=[(SUM, "sold.sum(1)[:, None]")]),
]
