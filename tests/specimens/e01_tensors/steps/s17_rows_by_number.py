"""Answers to rows_by_number."""

from grader.authoring.specimen import Right, Wrong

ROWS = "table[ids]"

SPECIMENS = [
    Wrong(
        "columns", edits=[(ROWS, "table[:, ids]")], rung="job", check="test_values", says="these are columns"
    ),
    Wrong(
        "each row once",
        edits=[(ROWS, "table[ids.unique()]")],
        rung="job",
        check="test_worked_example",
        says="only once",
    ),
    Wrong(
        "in the order of the table",
        edits=[(ROWS, "table[ids.sort().values]")],
        rung="job",
        check="test_values",
        says="in the order of the table",
    ),
    Wrong("the first row only", edits=[(ROWS, "table[ids[0]]")], rung="job", check="test_worked_example"),
    Right("by index_select", edits=[(ROWS, "table.index_select(0, ids)")]),
    Right(
        "a loop",
        edits=[
            (ROWS, "torch.stack([table[i] for i in ids])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
