"""Answers to momentum_by_hand."""

from grader.authoring.specimen import Right, Wrong

V = "    v.mul_(mu)\n    v.add_(p.grad)\n"
P = "    with torch.no_grad():\n        p.sub_(lr * v)\n"

SPECIMENS = [
    Wrong(
        "new tensors",
        edits=[(V + P, "    v = mu * v + p.grad\n    p = p - lr * v\n")],
        rung="job",
        check="test_worked_example",
        says="v itself does not change",
    ),
    Wrong(
        "a new p",
        edits=[(P, "    p = p - lr * v\n")],
        rung="job",
        check="test_worked_example",
        says="p itself does not change",
    ),
    Wrong(
        "a new v",
        edits=[(V, "    v = mu * v + p.grad\n")],
        rung="job",
        check="test_worked_example",
        says="v itself does not change",
    ),
    Wrong(
        "recorded", edits=[(P, "    p -= lr * v\n")], rung="job", check="test_worked_example", says="no_grad"
    ),
    Wrong("the old v", edits=[(V + P, P + V)], rung="job", check="test_worked_example", says="the old v"),
    Right("operators", edits=[(V, "    v *= mu\n    v += p.grad\n"), ("p.sub_(lr * v)", "p -= lr * v")]),
    Right(
        "copied into", edits=[(V, "    v.copy_(mu * v + p.grad)\n"), ("p.sub_(lr * v)", "p[:] = p - lr * v")]
    ),
    Right("through data", edits=[(P, "    p.data -= lr * v\n")]),
]
