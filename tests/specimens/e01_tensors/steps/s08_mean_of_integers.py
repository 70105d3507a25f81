"""Answers to mean_of_integers."""

from grader.authoring.specimen import Right, Wrong

MEAN = "scores.float().mean()"

SPECIMENS = [
    Wrong(
        "converted too late",
        edits=[(MEAN, "scores.mean().float()")],
        rung="job",
        check="test_worked_example",
        says="convert them before it",
    ),
    Wrong(
        "whole again",
        edits=[(MEAN, "scores.sum() // scores.numel()")],
        rung="job",
        check="test_worked_example",
        says="behind its point",
    ),
    Wrong(
        "the number of rows",
        edits=[(MEAN, "scores.sum() / len(scores)")],
        rung="job",
        check="test_values",
        says="the number of rows",
    ),
    Wrong(
        "a mean of each column",
        edits=[(MEAN, "scores.float().mean(0)")],
        rung="job",
        check="test_values",
    ),
    Right("the sum divided", edits=[(MEAN, "scores.sum() / scores.numel()")]),
    Right(
        "by the argument dtype",
        edits=[
            (MEAN, "scores.mean(dtype=torch.float32)"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
