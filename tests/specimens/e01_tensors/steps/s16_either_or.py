"""Answers to either_or."""

from grader.authoring.specimen import Right, Wrong

CHOICE = "torch.where(condition, a, b)"

SPECIMENS = [
    Wrong(
        "Python's if",
        edits=[(CHOICE, "a if condition else b")],
        rung="job",
        check="test_worked_example",
        says="wants one True or False",
    ),
    Wrong(
        "swapped",
        edits=[(CHOICE, "torch.where(condition, b, a)")],
        rung="job",
        check="test_worked_example",
        says="swapped",
    ),
    Wrong(
        "a only", edits=[(CHOICE, "a[condition]")], rung="job", check="test_worked_example", says="without b"
    ),
    Wrong(
        "0 for b",
        edits=[(CHOICE, "a * condition")],
        rung="job",
        check="test_values",
        says="0 where b is wanted",
    ),
    Right(
        "through a mask",
        edits=[
            (
                "return " + CHOICE,
                "result = b.clone()\n    result[condition] = a[condition]\n    return result",
            )
        ],
    ),
    Right("by arithmetic", edits=[(CHOICE, "a * condition + b * ~condition")]),
]
