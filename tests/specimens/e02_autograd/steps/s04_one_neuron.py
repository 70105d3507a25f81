"""Answers to one_neuron."""

from grader.authoring.specimen import Right, Wrong

LOSS = "-(y * torch.log(a) + (1 - y) * torch.log(1 - a))"
RETURN = "return loss, w.grad, b.grad"

SPECIMENS = [
    Wrong(
        "b is forgotten",
        edits=[("    b.requires_grad_()\n", "")],
        rung="job",
        check="test_worked_example",
        says="w and b both need",
    ),
    Wrong(
        "the sign",
        edits=[(LOSS, LOSS.removeprefix("-"))],
        rung="job",
        check="test_worked_example",
        says="minus",
    ),
    Wrong(
        "only spam",
        edits=[(LOSS, "-torch.log(a)")],
        rung="job",
        check="test_values",
        says="label is left out",
    ),
    Wrong(
        "swapped",
        edits=[(RETURN, "return loss, b.grad, w.grad")],
        rung="job",
        check="test_worked_example",
        says="wrong way round",
    ),
    Right(
        "exp written out, a copy of the loss",
        edits=[
            ("torch.sigmoid(x * w + b)", "1 / (1 + torch.exp(-(x * w + b)))"),
            (RETURN, "return loss.detach(), w.grad, b.grad"),
        ],
    ),
    Right(
        "autograd.grad",
        edits=[
            ("    loss.backward()\n", "    grads = torch.autograd.grad(loss, (w, b))\n"),
            (RETURN, "return loss, *grads"),
        ],
    ),
    Right("by hand", edits=[(RETURN, "return loss, (a - y) * x, a - y")]),
]
