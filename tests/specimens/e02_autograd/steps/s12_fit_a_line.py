"""Answers to fit_a_line."""

from grader.authoring.specimen import Right, Wrong

CLEAR = "        w.grad = b.grad = None\n"
STEPS = "            w -= rate * w.grad\n            b -= rate * b.grad\n"
NEW = "            w = w - rate * w.grad\n            b = b - rate * b.grad\n"
BLOCK = "        with torch.no_grad():\n" + STEPS

SPECIMENS = [
    Wrong("never cleared", edits=[(CLEAR, "")], rung="job", check="test_worked_example", says="not cleared"),
    Wrong("the sum", edits=[("mean()", "sum()")], rung="job", check="test_values", says="take their mean"),
    Wrong(
        "new tensors",
        edits=[(STEPS, NEW), (CLEAR, "")],
        rung="job",
        check="test_values",
        says="and not recorded",
    ),
    Wrong(
        "recorded",
        edits=[(BLOCK, STEPS.replace("    " * 3, "    " * 2))],
        rung="job",
        check="test_worked_example",
        says="torch.no_grad()",
    ),
    Wrong(
        "new tensors, recorded",
        edits=[(BLOCK, NEW.replace("    " * 3, "    " * 2)), (CLEAR, "")],
        rung="job",
        check="test_worked_example",
        says="without a gradient",
    ),
    Wrong(
        "returns too early",
        edits=[("    return w, b", "        return w, b")],
        rung="job",
        check="test_worked_example",
        says="after one step",
    ),
    Wrong("99 steps", edits=[("range(100)", "range(1, 100)")], rung="job", check="test_values"),
    Right(
        "zero_, and detached",
        edits=[
            (CLEAR, "        w.grad.zero_()\n        b.grad.zero_()\n"),
            ("return w, b", "return w.detach(), b.detach()"),
        ],
    ),
    Right(
        "new tensors that require a gradient",
        edits=[(STEPS, NEW), (CLEAR, "        w.requires_grad_()\n        b.requires_grad_()\n")],
    ),
    Right(
        "by torch.autograd.grad",
        edits=[
            (
                "((w * x + b - y) ** 2).mean().backward()",
                "dw, db = torch.autograd.grad(((w * x + b - y) ** 2).mean(), (w, b))",
            ),
            ("rate * w.grad", "rate * dw"),
            ("rate * b.grad", "rate * db"),
            (CLEAR, ""),
        ],
    ),
]
