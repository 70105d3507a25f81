"""Answers to grad_of_a_vector."""

from grader.authoring.specimen import Right, Wrong

BACK, AGAIN, GRAD = (
    "y.backward(gradient=weights)",
    "    y = x**2\n    (second,)",
    "(second,) = torch.autograd.grad(y, x, weights)",
)

SPECIMENS = [
    Wrong(
        "no weights",
        edits=[(BACK, "y.backward()")],
        rung="job",
        check="test_worked_example",
        says="needs the weights",
    ),
    Wrong(
        "one graph",
        edits=[(AGAIN, "    (second,)")],
        rung="job",
        check="test_worked_example",
        says="compute y anew",
    ),
    Wrong("the tuple", edits=[("(second,)", "second")], rung="job", check="test_values", says="item 0"),
    Wrong(
        "the sum",
        edits=[(BACK, "y.sum().backward()")],
        rung="job",
        check="test_values",
        says="weights are left out",
    ),
    Wrong(
        "what backward returns",
        edits=[("    " + BACK, "    first = " + BACK), ("return x.grad", "return first")],
        rung="job",
        check="test_worked_example",
        says="returns nothing",
    ),
    Right("a weighted sum", edits=[(BACK, "(weights * y).sum().backward()")]),
    Right(
        "the graph is retained",
        edits=[(BACK, "y.backward(weights, retain_graph=True)"), (AGAIN, "    (second,)")],
    ),
    Right(
        "grad of the weighted sum",
        edits=[(GRAD, "second = torch.autograd.grad((y * weights).sum(), [x])[0]")],
    ),
]
