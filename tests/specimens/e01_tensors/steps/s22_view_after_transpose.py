"""Answers to view_after_transpose."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "x.t().reshape(-1)"

SPECIMENS = [
    Wrong(
        "a view",
        edits=[(LINE, "x.t().view(x.numel())")],
        rung="job",
        check="test_values",
        says="`reshape` copies where `view` cannot",
    ),
    Wrong(
        "not transposed any more",
        edits=[(LINE, "x.view(-1)")],
        rung="job",
        check="test_worked_example",
        says="row by row",
    ),
    Wrong(
        "contiguous before the transpose",
        edits=[(LINE, "x.contiguous().t().view(-1)")],
        rung="job",
        check="test_worked_example",
        says="`reshape` copies where `view` cannot",
    ),
    Wrong("still a table", edits=[(LINE, "x.t().reshape(x.shape)")], rung="job", check="test_worked_example"),
    Right("contiguous first", edits=[(LINE, "x.t().contiguous().view(-1)")]),
    Right("flattened", edits=[(LINE, "x.transpose(0, 1).flatten()")]),
    Right(
        "column after column",
        edits=[(LINE, "torch.cat([x[:, j] for j in range(x.shape[1])])"), TORCH],
    ),
]
