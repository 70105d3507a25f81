"""Answers to without_the_loop."""

from grader.authoring.specimen import Right, Wrong

NORM = "x.norm(dim=1)"
TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")

SPECIMENS = [
    Wrong(
        "a loop in brackets",
        edits=[TORCH, (NORM, "torch.stack([row.norm() for row in x])")],
        rung="job",
        check="test_no_loop",
        says="a Python loop over rows",
    ),
    Wrong(
        "columns",
        edits=[(NORM, "x.norm(dim=0)")],
        rung="job",
        check="test_values",
        says="lengths of the columns",
    ),
    Wrong(
        "no dim", edits=[(NORM, "x.norm()")], rung="job", check="test_worked_example", says="dim=1 is missing"
    ),
    Wrong(
        "no root", edits=[(NORM, "(x**2).sum(1)")], rung="job", check="test_values", says="root is missing"
    ),
    Right("square, sum, root", edits=[(NORM, "x.square().sum(dim=1).sqrt()")]),
    Right("linalg", edits=[TORCH, (NORM, "torch.linalg.vector_norm(x, dim=-1)")]),
    Right("the diagonal of a product", edits=[(NORM, "(x @ x.T).diagonal() ** 0.5")]),
]
