"""Answers to add_a_dim."""

from grader.authoring.specimen import Right, Wrong

BATCH, COLUMN, BACK = "image.unsqueeze(0)", "x.unsqueeze(1)", "column.squeeze(1)"

SPECIMENS = [
    Wrong(
        "squeeze without a number",
        edits=[(BACK, "column.squeeze()")],
        rung="job",
        check="test_back_values",
        says="without a number",
    ),
    Wrong(
        "a row",
        edits=[(COLUMN, "x.unsqueeze(0)")],
        rung="job",
        check="test_column_worked_example",
        says="comes first",
    ),
    Wrong(
        "a batch after the channels",
        edits=[(BATCH, "image.unsqueeze(1)")],
        rung="job",
        check="test_batch_values",
    ),
    Wrong("the wrong dim", edits=[(BACK, "column.squeeze(0)")], rung="job", check="test_back_worked_example"),
    Wrong("nothing added", edits=[(COLUMN, "x")], rung="job", check="test_column_values"),
    Right("None as an index", edits=[(BATCH, "image[None]"), (COLUMN, "x[:, None]"), (BACK, "column[:, 0]")]),
    Right(
        "by their shapes",
        edits=[
            (BATCH, "image.view(1, *image.shape)"),
            (COLUMN, "x.reshape(-1, 1)"),
            (BACK, "column.flatten()"),
        ],
    ),
]
