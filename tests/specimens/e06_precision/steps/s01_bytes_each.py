"""Answers to bytes_each."""

from grader.authoring.specimen import Right, Wrong

NOW, THEN = "x.numel() * x.element_size()", "x.numel() * 2"

SPECIMENS = [
    Wrong(
        "half of what x takes",
        edits=[(THEN, "x.numel() * x.element_size() // 2")],
        rung="job",
        check="test_worked_example",
        says="right for float32 only",
    ),
    Wrong(
        "4 bytes always",
        edits=[(NOW, "x.numel() * 4")],
        rung="job",
        check="test_dtypes",
        says="4 bytes each",
    ),
    Wrong(
        "the bytes of one number",
        edits=[(NOW, "x.element_size()"), (THEN, "2")],
        rung="job",
        check="test_worked_example",
        says="bytes of one number",
    ),
    Wrong(
        "the rows only",
        edits=[(NOW, "len(x) * x.element_size()"), (THEN, "len(x) * 2")],
        rung="job",
        check="test_worked_example",
        says="only the rows",
    ),
    Right("nbytes, and really cast", edits=[(NOW, "x.nbytes"), (THEN, "x.bfloat16().nbytes")]),
    Right(
        "step by step",
        edits=[
            (
                f"return {NOW}, {THEN}",
                "count = 1\n    for size in x.shape:\n        count *= size\n    return count * x.element_size(), count * x.bfloat16().element_size()",
            )
        ],
    ),
]
