"""Answers to is_it_finite."""

from grader.authoring.specimen import Right, Wrong

NAN, INF = "torch.isnan(x)", "torch.isinf(x)"

SPECIMENS = [
    Wrong(
        "compares with NaN",
        edits=[(NAN, '(x == float("nan"))')],
        rung="job",
        check="test_worked_example",
        says="not even itself",
    ),
    Wrong(
        "compares with infinity",
        edits=[(INF, '(x == float("inf"))')],
        rung="job",
        check="test_worked_example",
        says="below 0",
    ),
    Wrong(
        "everything that is not finite is infinite",
        edits=[(INF, "(~torch.isfinite(x))")],
        rung="job",
        check="test_values",
        says="NaN is counted as infinite",
    ),
    Wrong(
        "tensors",
        edits=[
            (f"{NAN}.sum().item(), {INF}.sum().item()", f"{NAN}.sum(), {INF}.sum()"),
        ],
        rung="job",
        check="test_worked_example",
    ),
    Right("NaN differs from itself", edits=[(NAN, "(x != x)")]),
    Right(
        "a loop",
        edits=[
            (
                f"{NAN}.sum().item(), {INF}.sum().item()",
                "(len([v for v in x.flatten().tolist() if math.isnan(v)]), int((x.abs() == math.inf).sum()))",
            ),
            ("import torch\n", "import math\n\nimport torch\n"),
        ],
    ),
]
