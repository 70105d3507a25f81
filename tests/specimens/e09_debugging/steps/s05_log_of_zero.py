"""Answers to log_of_zero."""

from grader.authoring.specimen import Right, Wrong

LOG = "p.clamp(min=1e-7).log()"
ALL = f"-(target * {LOG}).sum()"
TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")

SPECIMENS = [
    Wrong("as it was", edits=[(LOG, "p.log()")], rung="job", check="test_worked_example", says="NaN"),
    Wrong(
        "hides the NaN behind the logarithm",
        edits=[(ALL, "-(target * p.log()).nan_to_num().sum()")],
        rung="job",
        check="test_gradients",
        says="before the logarithm",
    ),
    Wrong(
        "clamps the logarithm",
        edits=[(LOG, "p.log().clamp(min=-16.0)")],
        rung="job",
        check="test_gradients",
        says="before the logarithm",
    ),
    Wrong(
        "clamps at a number that is not small",
        edits=[("1e-7", "0.3")],
        rung="job",
        check="test_values",
    ),
    Right("adds a small number", edits=[(LOG, "(p + 1e-8).log()")]),
    Right(
        "another p where there is none, then the logarithm",
        edits=[TORCH, (LOG, "torch.where(target > 0, p, torch.ones_like(p)).log()")],
    ),
    Right(
        "the places with a target alone", edits=[(ALL, "-(target[target > 0] * p[target > 0].log()).sum()")]
    ),
]
