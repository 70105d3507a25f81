"""Answers to twice_through_one_graph."""

from grader.authoring.specimen import Right, Wrong

FIRST, SECOND, CLEAR = "y.sum().backward(retain_graph=True)", "(y**2).sum().backward()", "    x.grad = None\n"
GONE = "the first backward threw the graph away"

SPECIMENS = [
    Wrong("as it was", edits=[("retain_graph=True", "")], rung="job", check="test_worked_example", says=GONE),
    Wrong(
        "the second keeps it",
        edits=[(FIRST, "y.sum().backward()"), (SECOND, "(y**2).sum().backward(retain_graph=True)")],
        rung="job",
        check="test_values",
        says=GONE,
    ),
    Wrong("not cleared", edits=[(CLEAR, "")], rung="job", check="test_worked_example", says="added up"),
    Wrong(
        "one backward for both",
        edits=[
            (FIRST, ""),
            (SECOND, "(y**2).sum().backward()\n    first = x.grad"),
            ("    first = x.grad  # (n,)\n", ""),
        ],
        rung="job",
        check="test_values",
    ),
    Right(
        "exp once more",
        edits=[("(retain_graph=True)", "()"), (SECOND, "(torch.exp(x) ** 2).sum().backward()")],
    ),
    Right("both retain", edits=[(SECOND, "(y**2).sum().backward(retain_graph=True)")]),
    Right(
        "autograd.grad",
        edits=[
            (FIRST, "(first,) = torch.autograd.grad(y.sum(), x, retain_graph=True)"),
            ("    first = x.grad  # (n,)\n", ""),
        ],
    ),
]
