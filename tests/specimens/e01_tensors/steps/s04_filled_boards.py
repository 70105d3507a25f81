"""Answers to filled_boards."""

from grader.authoring.specimen import Right, Wrong

FULL = "torch.full((rows, columns), value)"

SPECIMENS = [
    Wrong(
        "no tuple",
        edits=[(FULL, "torch.full(rows, columns, value)")],
        rung="job",
        check="test_worked_example",
        says="the shape as one tuple",
    ),
    Wrong(
        "swapped",
        edits=[("torch.zeros(rows, columns)", "torch.zeros(columns, rows)")],
        rung="job",
        check="test_values",
        says="rows and columns are swapped",
    ),
    Wrong("no value", edits=[(FULL, "torch.ones(rows, columns)")], rung="job", check="test_worked_example"),
    Wrong(
        "whole numbers",
        edits=[(FULL, "torch.full((rows, columns), int(value))")],
        rung="job",
        check="test_values",
    ),
    Right("multiplied", edits=[(FULL, "value * torch.ones(rows, columns)")]),
    Right(
        "out of lists",
        edits=[
            (
                f"return torch.zeros(rows, columns), torch.ones(rows, columns), {FULL}",
                "zeros = torch.tensor([[0.0] * columns] * rows)\n    return zeros, zeros + 1, zeros + value",
            )
        ],
    ),
]
