"""Answers to logits_to_classes."""

from grader.authoring.specimen import Right, Wrong

RETURN = "return logits.softmax(dim=1), logits.argmax(dim=1)"

SPECIMENS = [
    Wrong(
        "down the columns",
        edits=[(RETURN, "return logits.softmax(dim=0), logits.argmax(dim=0)")],
        rung="job",
        check="test_values",
        says="down the columns",
    ),
    Wrong(
        "a sigmoid",
        edits=[("logits.softmax(dim=1)", "logits.sigmoid()")],
        rung="job",
        check="test_worked_example",
        says="a sigmoid",
    ),
    Wrong(
        "the logarithms",
        edits=[("logits.softmax(", "logits.log_softmax(")],
        rung="job",
        check="test_worked_example",
        says="logarithms",
    ),
    Wrong(
        "the largest logits",
        edits=[("logits.argmax(dim=1)", "logits.max(dim=1).values")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "one class for all rows",
        edits=[("logits.argmax(dim=1)", "logits.argmax()")],
        rung="job",
        check="test_worked_example",
    ),
    Right(
        "both from max",
        edits=[(RETURN, "p = logits.softmax(-1)\n    best, classes = p.max(-1)\n    return p, classes")],
    ),
    Right(
        "by hand, row by row",
        edits=[
            (
                RETURN,
                "import torch\n    rows = [row.exp() / row.exp().sum() for row in logits]\n    return torch.stack(rows), torch.tensor([int(row.argmax()) for row in rows])",
            )
        ],
    ),
]
