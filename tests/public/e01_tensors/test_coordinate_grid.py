"""The contract of coordinate_grid."""

from grader.checks.contract import Contract, given

contract = Contract(
    "coordinate_grid(height, width)",
    example=[
        ((1, 2), [[[-0.5, 0.0], [0.5, 0.0]]]),
        (
            given(2, 3, align_corners=True),
            [[[-1.0, -1.0], [0.0, -1.0], [1.0, -1.0]], [[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]],
        ),
    ],
    dims="row column xy",
)
