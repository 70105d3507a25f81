"""Answers to one_step_downhill."""

from grader.authoring.specimen import Right, Wrong

BODY = "    with torch.no_grad():\n        w -= rate * w.grad"

SPECIMENS = [
    Wrong(
        "a new tensor",
        edits=[("w -= rate * w.grad", "w = w - rate * w.grad")],
        rung="job",
        check="test_worked_example",
        says="makes a new tensor",
    ),
    Wrong(
        "recorded",
        edits=[(BODY, "    w -= rate * w.grad")],
        rung="job",
        check="test_worked_example",
        says="torch.no_grad()",
    ),
    Wrong("uphill", edits=[("-=", "+=")], rung="job", check="test_values", says="uphill"),
    Wrong(
        "without the rate",
        edits=[("rate * w.grad", "w.grad")],
        rung="job",
        check="test_values",
        says="not rate times",
    ),
    Wrong(
        "switched off",
        edits=[(BODY, "    w.requires_grad_(False)\n    w -= rate * w.grad")],
        rung="job",
        check="test_w_still_learns",
        says="no longer requires",
    ),
    Right("data", edits=[(BODY, "    w.data -= rate * w.grad")]),
    Right(
        "sub_, and the gradient is cleared",
        edits=[("w -= rate * w.grad", "w.sub_(rate * w.grad)\n    w.grad = None")],
    ),
    Right(
        "entry by entry",
        edits=[("w -= rate * w.grad", "for i in range(len(w)):\n            w[i] = w[i] - rate * w.grad[i]")],
    ),
]
