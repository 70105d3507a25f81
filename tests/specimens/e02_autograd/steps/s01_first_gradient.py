"""Answers to first_gradient."""

from grader.authoring.specimen import Right, Wrong

SUM = "(x**2).sum().backward()"
RETURN = "return x.grad"

SPECIMENS = [
    Wrong(
        "backward from a vector",
        edits=[(SUM, "(x**2).backward()")],
        rung="job",
        check="test_worked_example",
        says="add the squares up",
    ),
    Wrong(
        "what backward returns",
        edits=[(SUM, "y = (x**2).sum()"), (RETURN, "return y.backward()")],
        rung="job",
        check="test_worked_example",
        says="in x.grad",
    ),
    Wrong(
        "no record",
        edits=[("    x.requires_grad_()\n", "")],
        rung="job",
        check="test_values",
        says="requires_grad_() comes before",
    ),
    Wrong(
        "the mean", edits=[("sum()", "mean()")], rung="job", check="test_values", says="mean of the squares"
    ),
    Right(
        "a loop over the numbers",
        edits=[
            (
                SUM,
                "total = 0\n    for number in x.flatten():\n        total = total + number * number\n    total.backward()",
            )
        ],
    ),
    Right(
        "on a copy, with square()",
        edits=[
            ("    x.requires_grad_()\n", "    x = x.clone().requires_grad_(True)\n"),
            (SUM, "y = x.square().sum()\n    y.backward()"),
        ],
    ),
]
