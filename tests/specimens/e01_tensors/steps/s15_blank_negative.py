"""Answers to blank_negative."""

from grader.authoring.specimen import Right, Wrong

CODE = "blanked = x.clone()\n    blanked[x < 0] = 0\n    return blanked"

SPECIMENS = [
    Wrong(
        "no copy",
        edits=[("x.clone()", "x")],
        rung="job",
        check="test_x_stays",
        says="changes its input x",
    ),
    Wrong(
        "left out",
        edits=[(CODE, "return x[x >= 0]")],
        rung="job",
        check="test_worked_example",
        says="left out",
    ),
    Wrong(
        "without a sign",
        edits=[(CODE, "return x.abs()")],
        rung="job",
        check="test_values",
        says="lost their sign",
    ),
    Wrong("the others", edits=[("x < 0", "x > 0")], rung="job", check="test_values", says="above 0 became 0"),
    Wrong(
        "an if for a tensor",
        edits=[("blanked[x < 0] = 0", "if blanked < 0:\n        blanked = 0")],
        rung="job",
        check="test_worked_example",
        says="wants one True or False",
    ),
    Right("by clamp", edits=[(CODE, "return x.clamp(min=0)")]),
    Right("multiplied by the mask", edits=[(CODE, "return x * (x > 0)")]),
]
