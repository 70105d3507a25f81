"""Answers to slope_at."""

from grader.authoring.specimen import Right, Wrong

X = "x = torch.tensor(t, requires_grad=True)"
BACK = "f(x).backward()"
RETURN = "return x.grad"

SPECIMENS = [
    Wrong(
        "a plain number",
        edits=[(BACK, "f(t).backward()")],
        rung="job",
        check="test_values",
        says="a Python float",
    ),
    Wrong(
        "no record",
        edits=[(X, "x = torch.tensor(t)")],
        rung="job",
        check="test_worked_example",
        says="requires_grad=True",
    ),
    Wrong(
        "the value",
        edits=[(RETURN, "return f(x).detach()")],
        rung="job",
        check="test_values",
        says="this is f at t",
    ),
    Wrong(
        "what backward returns",
        edits=[(BACK, "y = f(x)"), (RETURN, "return y.backward()")],
        rung="job",
        check="test_worked_example",
        says="backward returns nothing",
    ),
    Right("as in the step before", edits=[(X, "x = torch.tensor(t)\n    x.requires_grad_()")]),
    Right("a Python float", edits=[(RETURN, "return x.grad.item()")]),
    Right(
        "torch.func",
        edits=[
            (X, "import torch.func"),
            (BACK, "slope = torch.func.grad(f)"),
            (RETURN, "return slope(torch.tensor(t))"),
        ],
    ),
]
