"""Answers to gradients_add_up."""

from grader.authoring.specimen import Right, Wrong

CLEAR = "    w.grad = None\n"

SPECIMENS = [
    Wrong("as it was", edits=[(CLEAR, "")], rung="job", check="test_worked_example", says="added up"),
    Wrong(
        "zeros into one tensor",
        edits=[(CLEAR, "    w.grad.zero_()\n")],
        rung="job",
        check="test_worked_example",
        says="both names stand for",
    ),
    Wrong(
        "a copy, and nothing cleared",
        edits=[("first = w.grad", "first = w.grad.clone()"), (CLEAR, "")],
        rung="job",
        check="test_values",
        says="added up",
    ),
    Wrong(
        "cleared too early",
        edits=[
            ("    first = w.grad  # (n,)\n    w.grad = None\n", "    w.grad = None\n    first = w.grad\n")
        ],
        rung="job",
        check="test_worked_example",
        says="before it was kept",
    ),
    Right(
        "zeros after a copy",
        edits=[("first = w.grad", "first = w.grad.clone()"), (CLEAR, "    w.grad.zero_()\n")],
    ),
    Right("another tensor", edits=[(CLEAR, "    w = w.detach().requires_grad_()\n")]),
    Right(
        "subtracted",
        edits=[
            ("first = w.grad", "first = w.grad.clone()"),
            (CLEAR, ""),
            ("second = w.grad", "second = w.grad - first"),
        ],
    ),
]
