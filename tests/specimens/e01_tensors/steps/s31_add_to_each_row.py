"""Answers to add_to_each_row."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
BIAS, FACTORS = "x + bias", "factors.unsqueeze(1)"

SPECIMENS = [
    Wrong(
        "no unsqueeze",
        edits=[(FACTORS, "factors")],
        rung="job",
        check="test_rows_worked_example",
        says="laid along the columns",
    ),
    Wrong(
        "a row in the place of a column",
        edits=[(FACTORS, "factors.unsqueeze(0)")],
        rung="job",
        check="test_rows_values",
        says="unsqueeze(1)",
    ),
    Wrong(
        "a column of biases",
        edits=[(BIAS, "x + bias.unsqueeze(1)")],
        rung="job",
        check="test_columns_worked_example",
        says="each row gets a number",
    ),
    Wrong(
        "the first bias for all",
        edits=[(BIAS, "x + bias[0]")],
        rung="job",
        check="test_columns_values",
    ),
    Right("written with None", edits=[(BIAS, "x + bias[None, :]"), (FACTORS, "factors[:, None]")]),
    Right("transposed twice", edits=[("x * " + FACTORS, "(x.T * factors).T")]),
    Right(
        "a loop",
        edits=[("x * " + FACTORS, "torch.stack([row * f for row, f in zip(x, factors)])"), TORCH],
    ),
]
