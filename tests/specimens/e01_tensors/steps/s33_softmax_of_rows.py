"""Answers to softmax_of_rows."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
SOFTMAX, LOGS = "scores.softmax(dim=-1)", "scores.log_softmax(dim=-1)"

SPECIMENS = [
    Wrong(
        "columns",
        edits=[(SOFTMAX, "scores.softmax(dim=0)"), (LOGS, "scores.log_softmax(dim=0)")],
        rung="job",
        check="test_worked_example",
        says="along the rows",
    ),
    Wrong(
        "dim=1",
        edits=[(SOFTMAX, "scores.softmax(dim=1)"), (LOGS, "scores.log_softmax(dim=1)")],
        rung="job",
        check="test_values",
        says="always the last",
    ),
    Wrong(
        "the logarithms of the scores",
        edits=[(LOGS, "scores.log()")],
        rung="job",
        check="test_worked_example",
        says="not of the probabilities",
    ),
    Wrong(
        "shares of the scores",
        edits=[(SOFTMAX, "scores / scores.sum(-1, keepdim=True)")],
        rung="job",
        check="test_values",
    ),
    Right("the logarithm of the softmax", edits=[(LOGS, "scores.softmax(-1).log()")]),
    Right(
        "functions of torch",
        edits=[(SOFTMAX, "torch.softmax(scores, -1)"), (LOGS, "torch.log_softmax(scores, -1)"), TORCH],
    ),
    Right("by hand", edits=[(SOFTMAX, "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")]),
]
