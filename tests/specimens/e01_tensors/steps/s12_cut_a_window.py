"""Answers to cut_a_window."""

from grader.authoring.specimen import Right, Wrong

CUT = "x[1:, :2]"

SPECIMENS = [
    Wrong(
        "rows twice",
        edits=[(CUT, "x[1:][:2]")],
        rung="job",
        check="test_worked_example",
        says="cut rows twice",
    ),
    Wrong(
        "in the wrong order",
        edits=[(CUT, "x[:2, 1:]")],
        rung="job",
        check="test_worked_example",
        says="rows come first",
    ),
    Wrong(
        "one column",
        edits=[(CUT, "x[1:, :1]")],
        rung="job",
        check="test_worked_example",
        says="ends before 2",
    ),
    Wrong("all but the last column", edits=[(CUT, "x[1:, :-1]")], rung="job", check="test_values"),
    Right("one after the other", edits=[("return x[1:, :2]", "x = x[1:]\n    return x[:, 0:2]")]),
    Right(
        "row by row",
        edits=[
            (CUT, "torch.stack([row[:2] for row in x[1 : len(x)]])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
