"""The contract of embedding_lookup."""

from grader.checks.contract import Contract

contract = Contract(
    "embedding_lookup(weight, ids)",
    example=(
        ([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]], [[2, 0], [2, 1]]),
        [[[2.0, 2.5], [0.0, 0.5]], [[2.0, 2.5], [1.0, 1.5]]],
    ),
    dims="row column dim",
)
