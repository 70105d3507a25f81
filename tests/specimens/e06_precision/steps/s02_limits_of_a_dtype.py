"""Answers to limits_of_a_dtype."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "tiny for eps",
        edits=[("info.eps", "info.tiny")],
        rung="job",
        check="test_worked_example",
        says="smallest number above 0",
    ),
    Wrong(
        "min for max",
        edits=[("info.max", "info.min")],
        rung="job",
        check="test_worked_example",
        says="below 0",
    ),
    Wrong(
        "the number after 1",
        edits=[("info.eps", "1 + info.eps")],
        rung="job",
        check="test_worked_example",
        says="distance from 1",
    ),
    Wrong(
        "the other order",
        edits=[("info.max, info.eps", "info.eps, info.max")],
        rung="job",
        check="test_worked_example",
        says="change places",
    ),
    Wrong(
        "always float16",
        edits=[("finfo(dtype)", "finfo(torch.float16)")],
        rung="job",
        check="test_values",
    ),
    Right(
        "two calls",
        edits=[
            ("    info = torch.finfo(dtype)\n", ""),
            ("info.max, info.eps", "torch.finfo(dtype).max, torch.finfo(dtype).eps"),
        ],
    ),
    Right(
        "measured",
        edits=[
            (
                "info.eps",
                "(torch.nextafter(one := torch.ones((), dtype=dtype), 2 * one) - one).item()",
            )
        ],
    ),
]
