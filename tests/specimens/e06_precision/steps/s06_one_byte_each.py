"""Answers to one_byte_each."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "cut off",
        edits=[(".round()", "")],
        rung="job",
        check="test_values",
        says="not rounded",
    ),
    Wrong(
        "the largest number",
        edits=[("x.abs().max()", "x.max()")],
        rung="job",
        check="test_worked_example",
        says="not the largest absolute value",
    ),
    Wrong(
        "the scale upside down",
        edits=[("x.abs().max() / 127", "127 / x.abs().max()"), ("x / scale", "x * scale")],
        rung="job",
        check="test_worked_example",
        says="the other way round",
    ),
    Wrong("no scale", edits=[("(x / scale)", "x")], rung="job", check="test_values"),
    Wrong(
        "not int8",
        edits=[(".to(torch.int8)", "")],
        rung="job",
        check="test_worked_example",
        says="int8",
    ),
    Right(
        "by the two ends",
        edits=[
            ("x.abs().max()", "max(x.max(), -x.min())"),
            (
                "(x / scale).round().to(torch.int8)",
                "torch.round(x / scale).clamp(-128, 127).type(torch.int8)",
            ),
        ],
    ),
    Right(
        "number by number",
        edits=[
            (
                "(x / scale).round().to(torch.int8)",
                "torch.tensor([round((t / scale).item()) for t in x], dtype=torch.int8)",
            )
        ],
    ),
]
