"""Answers to row_column_element."""

from grader.authoring.specimen import Right, Wrong

LINE = "return x[i], x[:, j], x[i, j]"

SPECIMENS = [
    Wrong(
        "two pairs of brackets",
        edits=[("x[:, j]", "x[:][j]")],
        rung="job",
        check="test_worked_example",
        says="that is a row",
    ),
    Wrong("swapped", edits=[("x[i, j]", "x[j, i]")], rung="job", check="test_values", says="swapped"),
    Wrong(
        "a row for a column",
        edits=[("x[:, j]", "x[j]")],
        rung="job",
        check="test_values",
        says="that is a row",
    ),
    Wrong(
        "a Python number",
        edits=[("x[i, j]", "x[i, j].item()")],
        rung="job",
        check="test_worked_example",
        says="without .item()",
    ),
    Right("step by step", edits=[(LINE, "row = x[i, :]\n    return row, x.T[j], row[j]")]),
    Right("by select", edits=[(LINE, "return x.select(0, i), x.select(1, j), x[i][j]")]),
    Right(
        "a loop",
        edits=[
            ("x[:, j]", "torch.tensor([row[j] for row in x])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
