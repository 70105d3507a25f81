"""Answers to rows_as_json."""

from grader.authoring.specimen import Right, Wrong

LOOK = """    for number, row in enumerate(rows):
        if len(row) != features:
            return json.dumps({"error": f"row {number} has {len(row)} numbers, not {features}"})
"""

SPECIMENS = [
    Wrong(
        "no look at the rows",
        edits=[(LOOK, "")],
        rung="job",
        check="test_worked_example",
        says="length of every row before you make a tensor",
    ),
    Wrong(
        "the first row alone",
        edits=[(LOOK, LOOK.replace("enumerate(rows)", "enumerate(rows[:1])"))],
        rung="job",
        check="test_worked_example",
        says="every row",
    ),
    Wrong(
        "a tensor",
        edits=[("outputs.tolist()", "outputs")],
        rung="job",
        check="test_worked_example",
        says=".tolist()",
    ),
    Wrong(
        "a dictionary",
        edits=[('json.dumps({"outputs": outputs.tolist()})', '{"outputs": outputs.tolist()}')],
        rung="job",
        check="test_worked_example",
        says="json.dumps",
    ),
    Wrong(
        "rows that are too short alone",
        edits=[("len(row) != f", "len(row) < f")],
        rung="job",
        check="test_values",
    ),
    Right(
        "an exception that is caught",
        edits=[
            ("model(torch.tensor(rows, dtype=torch.float32))", "model(x)"),
            (
                LOOK,
                "    try:\n        x = torch.tensor(rows, dtype=torch.float32).reshape(len(rows), features)\n"
                '    except (ValueError, RuntimeError):\n        return json.dumps({"error": "rows of the wrong length"})\n',
            ),
        ],
    ),
    Right(
        "any, eval and no graph",
        edits=[
            (
                LOOK,
                '    if any(len(row) != features for row in rows):\n        return json.dumps({"error": "bad rows"})\n',
            ),
            ("    outputs =", "    with torch.no_grad():\n        outputs ="),
        ],
    ),
]
