"""The contract of batched_matmul."""

from grader.checks.contract import Contract

scores = Contract(
    "scores(query, key)",
    example=(([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]), [[11.0, 17.0]]),
    dims="time source",
)
outer = Contract(
    "outer(left, right)",
    example=(([1.0, 2.0], [3.0, 4.0, 5.0]), [[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]),
    dims="rows columns",
)
bilinear = Contract(
    "bilinear(left, weight, right)",
    example=(([1.0, 2.0], [[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], [3.0, 4.0, 5.0]), [4.0]),
    dims="out",
)
