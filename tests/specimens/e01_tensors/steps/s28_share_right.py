"""Answers to share_right."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
SHARE, ALL = "(guesses == labels).float().mean().item()", "bool((guesses == labels).all())"

SPECIMENS = [
    Wrong(
        "the mean of bools",
        edits=[(SHARE, "(guesses == labels).mean().item()")],
        rung="job",
        check="test_share_worked_example",
        says="`.float()` makes numbers of them",
    ),
    Wrong(
        "counted only",
        edits=[(SHARE, "(guesses == labels).sum().item()")],
        rung="job",
        check="test_share_values",
        says="not divided",
    ),
    Wrong(
        "one for each photo",
        edits=[(SHARE, "guesses == labels")],
        rung="job",
        check="test_share_worked_example",
        says="take the mean",
    ),
    Wrong(
        "any",
        edits=[(ALL, "bool((guesses == labels).any())")],
        rung="job",
        check="test_every_worked_example",
        says="one right guess is enough",
    ),
    Wrong(
        "most are right",
        edits=[(ALL, "(guesses == labels).float().mean() > 0.5")],
        rung="job",
        check="test_every_values",
    ),
    Right(
        "divided by the number",
        edits=[
            (SHARE, "(guesses == labels).sum() / len(labels)"),
            (ALL, "torch.equal(guesses, labels)"),
            TORCH,
        ],
    ),
    Right(
        "a loop",
        edits=[
            (SHARE, "sum(int(g == t) for g, t in zip(guesses, labels)) / len(labels)"),
            (ALL, "(guesses == labels).all()"),
        ],
    ),
]
