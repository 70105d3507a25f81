"""Answers to every_pair."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "a.unsqueeze(1) - b"

SPECIMENS = [
    Wrong(
        "two rows",
        edits=[(LINE, "a - b")],
        rung="job",
        check="test_worked_example",
        says="make a column of a",
    ),
    Wrong(
        "the table on its side",
        edits=[(LINE, "a - b.unsqueeze(1)")],
        rung="job",
        check="test_values",
        says="b is the column",
    ),
    Wrong(
        "b minus a",
        edits=[(LINE, "b - a.unsqueeze(1)")],
        rung="job",
        check="test_worked_example",
        says="b minus a",
    ),
    Wrong("two columns", edits=[(LINE, "a.unsqueeze(1) - b.unsqueeze(1)")], rung="job", check="test_values"),
    Right("None as an index", edits=[(LINE, "a[:, None] - b[None, :]")]),
    Right("a loop", edits=[(LINE, "torch.stack([number - b for number in a])"), TORCH]),
]
