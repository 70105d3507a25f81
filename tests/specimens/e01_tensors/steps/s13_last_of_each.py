"""Answers to last_of_each."""

from grader.authoring.specimen import Right, Wrong

LAST = "x[..., -1]"

SPECIMENS = [
    Wrong(
        "tables only",
        edits=[(LAST, "x[:, -1]")],
        rung="job",
        check="test_worked_example",
        says="right for a table only",
    ),
    Wrong(
        "the last row",
        edits=[(LAST, "x[-1]")],
        rung="job",
        check="test_worked_example",
        says="last row of a table",
    ),
    Wrong("a slice", edits=[(LAST, "x[..., -1:]")], rung="job", check="test_values", says="still there"),
    Wrong(
        "one or two dims",
        edits=[(LAST, "x[-1] if x.ndim == 1 else x[:, -1]")],
        rung="job",
        check="test_values",
        says="right for a table only",
    ),
    Right("by select", edits=[(LAST, "x.select(-1, -1)")]),
    Right("by the length", edits=[(LAST, "x[..., x.shape[-1] - 1]")]),
]
