"""Answers to which_dtype."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "32 bits",
        edits=[("ids.long()", "ids.int()")],
        rung="job",
        check="test_worked_example",
        says="int64 is called long",
    ),
    Wrong(
        "flags stay numbers",
        edits=[("flags.bool()", "flags")],
        rung="job",
        check="test_values",
        says="not converted",
    ),
    Wrong(
        "double precision",
        edits=[("features.float()", "features.double()")],
        rung="job",
        check="test_worked_example",
        says="float64",
    ),
    Wrong(
        "a mask the wrong way round", edits=[("flags.bool()", "flags == 0")], rung="job", check="test_values"
    ),
    Right(
        "by to",
        edits=[
            ("ids.long(), features.float()", "ids.to(torch.int64), features.to(torch.float32)"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right("by a comparison", edits=[("flags.bool()", "flags == 1")]),
]
