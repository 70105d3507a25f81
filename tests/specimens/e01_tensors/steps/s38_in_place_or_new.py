"""Answers to in_place_or_new."""

from grader.authoring.specimen import Right, Wrong

NEW, SELF = "return x + 1", "x.add_(1)"

SPECIMENS = [
    Wrong(
        "a new tensor of the same name",
        edits=[(SELF, "x = x + 1")],
        rung="job",
        check="test_add_one",
        says="is a new tensor",
    ),
    Wrong(
        "a new tensor comes back",
        edits=[(SELF, "return x.add(1)")],
        rung="job",
        check="test_add_one",
        says="is a new tensor",
    ),
    Wrong(
        "x is changed",
        edits=[(NEW, "x += 1\n    return x")],
        rung="job",
        check="test_new_arguments_are_left_alone",
        says="changes its input x",
    ),
    Wrong("x comes back", edits=[(NEW, "return x")], rung="job", check="test_new_values"),
    Wrong("2 is added", edits=[(NEW, "return x + 2")], rung="job", check="test_new_worked_example"),
    Right("a copy is changed", edits=[(NEW, "y = x.clone()\n    y += 1\n    return y"), (SELF, "x += 1")]),
    Right("through an index", edits=[(NEW, "return 1 + x"), (SELF, "x[:] = x + 1")]),
]
