"""Answers to out_of_torch."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "the sum is a tensor",
        edits=[("x.sum().item()", "x.sum()")],
        rung="job",
        check="test_worked_example",
        says="`.item()` makes a Python number",
    ),
    Wrong(
        "a list of tensors",
        edits=[("x.tolist()", "list(x)")],
        rung="job",
        check="test_worked_example",
        says="`.tolist()` makes a Python list",
    ),
    Wrong(
        "x itself",
        edits=[("x.tolist()", "x")],
        rung="job",
        check="test_values",
        says="`.tolist()` makes a Python list",
    ),
    Wrong(
        "item of all",
        edits=[("x.sum().item()", "x.item()")],
        rung="job",
        check="test_worked_example",
        says="add x up before",
    ),
    Wrong(
        "rows only",
        edits=[("x.tolist()", "[row.tolist() for row in x[:2]]")],
        rung="job",
        check="test_values",
    ),
    Right("by float", edits=[("x.sum().item()", "float(x.sum())")]),
    Right(
        "added up in Python",
        edits=[
            (
                "return x.sum().item(), x.tolist()",
                "total = 0.0\n    for number in x.flatten().tolist():\n        total += number\n    return total, x.tolist()",
            )
        ],
    ),
]
