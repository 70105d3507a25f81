"""Answers to shape_and_count."""

from grader.authoring.specimen import Right, Wrong

LINE = "return x.shape, x.ndim, x.numel()"

SPECIMENS = [
    Wrong(
        "len counts rows",
        edits=[("x.numel()", "len(x)")],
        rung="job",
        check="test_worked_example",
        says="counts the rows only",
    ),
    Wrong(
        "shape for dims", edits=[("x.ndim", "len(x)")], rung="job", check="test_values", says="the rows only"
    ),
    Wrong(
        "in another order",
        edits=[(LINE, "return x.shape, x.numel(), x.ndim")],
        rung="job",
        check="test_worked_example",
        says="not how many dims",
    ),
    Wrong(
        "rows and columns only",
        edits=[("x.numel()", "x.shape[0] * x.shape[1]")],
        rung="job",
        check="test_values",
    ),
    Right("by other names", edits=[(LINE, "return x.size(), x.dim(), x.nelement()")]),
    Right(
        "counted by hand",
        edits=[
            (
                LINE,
                "n = 1\n    for size in x.shape:\n        n *= size\n    return list(x.shape), len(x.shape), n",
            )
        ],
    ),
]
