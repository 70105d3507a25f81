"""Answers to gradient_in_the_middle."""

from grader.authoring.specimen import Right, Wrong

RETAIN, BACK, RETURN = "    h.retain_grad()\n", "(h**2).sum().backward()", "return h.grad"

SPECIMENS = [
    Wrong(
        "no retain_grad", edits=[(RETAIN, "")], rung="job", check="test_worked_example", says="h is no leaf"
    ),
    Wrong(
        "too late",
        edits=[(RETAIN, ""), (BACK, BACK + "\n" + RETAIN.rstrip())],
        rung="job",
        check="test_values",
        says="before backward",
    ),
    Wrong(
        "that for x",
        edits=[(RETURN, "return x.grad")],
        rung="job",
        check="test_worked_example",
        says="gradient for x",
    ),
    Wrong(
        "no record",
        edits=[("    x.requires_grad_()\n", "")],
        rung="job",
        check="test_worked_example",
        says="comes before h",
    ),
    Right("h as a leaf", edits=[(RETAIN, ""), ("x * 2", "(x * 2).detach().requires_grad_()")]),
    Right(
        "autograd.grad",
        edits=[
            (RETAIN, ""),
            (BACK, "import torch"),
            (RETURN, "return torch.autograd.grad((h**2).sum(), h)[0]"),
        ],
    ),
    Right(
        "a hook",
        edits=[(RETAIN, "    seen = []\n    h.register_hook(seen.append)\n"), (RETURN, "return seen[0]")],
    ),
]
