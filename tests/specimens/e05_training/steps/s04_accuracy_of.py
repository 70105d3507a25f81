"""Answers to accuracy_of."""

from grader.authoring.specimen import Right, Wrong

EVAL, NO_GRAD = "    model.eval()\n", "with torch.no_grad():"
SHARE = "(classes == labels).float().mean().item()"

SPECIMENS = [
    Wrong("no eval", edits=[(EVAL, "")], rung="job", check="test_worked_example", says="model.eval()"),
    Wrong("a graph", edits=[(NO_GRAD, "if True:")], rung="job", check="test_no_graph", says="no_grad"),
    Wrong(
        "a count",
        edits=[(SHARE, "float((classes == labels).sum().item())")],
        rung="job",
        check="test_worked_example",
        says="divide",
    ),
    Wrong(
        "the mean of True and False",
        edits=[(SHARE, "(classes == labels).mean().item()")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong("over the rows", edits=[("dim=1", "dim=0")], rung="job", check="test_worked_example"),
    Right(
        "counted in a loop",
        edits=[(SHARE, "sum(int(c) == int(t) for c, t in zip(classes, labels)) / len(labels)")],
    ),
    Right(
        "inference mode",
        edits=[(NO_GRAD, "with torch.inference_mode():"), (EVAL, "    model.train(False)\n")],
    ),
    Right(
        "back in training mode",
        edits=[
            ("    return", "    model.train()\n    return"),
            ("argmax(dim=1)", "softmax(dim=1).max(dim=1).indices"),
        ],
    ),
]
