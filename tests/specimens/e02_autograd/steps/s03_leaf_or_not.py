"""Answers to leaf_or_not."""

from grader.authoring.specimen import Right, Wrong

FN = "x.grad_fn is not None"

SPECIMENS = [
    Wrong(
        "grad_fn itself",
        edits=[(FN, "x.grad_fn")],
        rung="job",
        check="test_kinds",
        says="is grad_fn: return whether",
    ),
    Wrong("the other way round", edits=[(FN, "x.grad_fn is None")], rung="job", check="test_kinds"),
    Wrong("grad for grad_fn", edits=[(FN, "x.grad is not None")], rung="job", check="test_kinds"),
    Wrong(
        "a leaf is what requires a gradient and was not computed",
        edits=[("x.is_leaf", "x.requires_grad and x.grad_fn is None")],
        rung="job",
        check="test_no_operation",
        says="torch.ones(2) * 3 is a leaf",
    ),
    Right("a leaf has no grad_fn", edits=[("x.is_leaf", "x.grad_fn is None")]),
    Right("bool()", edits=[(FN, "bool(x.grad_fn)")]),
    Right("not is_leaf", edits=[(FN, "not x.is_leaf")]),
]
