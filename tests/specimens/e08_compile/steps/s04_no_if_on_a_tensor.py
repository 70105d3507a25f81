"""Answers to no_if_on_a_tensor."""

from grader.authoring.specimen import Right, Wrong

WHERE = "torch.where(x.sum() > 0, x, -x)"

SPECIMENS = [
    Wrong(
        "an if in one line",
        edits=[(WHERE, "x if x.sum() > 0 else -x")],
        rung="job",
        check="test_one_graph",
        says="one graph",
    ),
    Wrong(
        "asks for the number first",
        edits=[(WHERE, "x * (1.0 if bool(x.sum() > 0) else -1.0)")],
        rung="job",
        check="test_one_graph",
        says="one graph",
    ),
    Wrong(
        "chooses number by number",
        edits=[("x.sum() > 0", "x > 0")],
        rung="job",
        check="test_values",
        says="looked at by itself",
    ),
    Wrong("exchanged", edits=[("x, -x)", "-x, x)")], rung="job", check="test_values", says="exchanged"),
    Right("times 1 or -1", edits=[(WHERE, "x * ((x.sum() > 0).float() * 2 - 1)")]),
    Right("a condition for each number", edits=[("x.sum() > 0", "(x.sum() > 0).expand(x.shape)")]),
]
