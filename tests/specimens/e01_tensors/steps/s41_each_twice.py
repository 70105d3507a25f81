"""Answers to each_twice."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "x.repeat_interleave(n, dim=0)"

SPECIMENS = [
    Wrong(
        "a b a b", edits=[(LINE, "x.repeat(n, 1)")], rung="job", check="test_worked_example", says="a b a b"
    ),
    Wrong(
        "no dim",
        edits=[(LINE, "x.repeat_interleave(n)")],
        rung="job",
        check="test_worked_example",
        says="`dim=` is missing",
    ),
    Wrong(
        "columns",
        edits=[(LINE, "x.repeat_interleave(n, dim=1)")],
        rung="job",
        check="test_values",
        says="each column",
    ),
    Wrong("always twice", edits=[(LINE, "x.repeat_interleave(2, dim=0)")], rung="job", check="test_values"),
    Right("row numbers", edits=[(LINE, "x[torch.arange(len(x) * n) // n]"), TORCH]),
    Right("two loops", edits=[(LINE, "torch.stack([row for row in x for _ in range(n)])"), TORCH]),
    Right("side by side, then folded", edits=[(LINE, "x.repeat(1, n).view(-1, x.shape[1])")]),
]
