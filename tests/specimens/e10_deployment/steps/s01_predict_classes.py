"""Answers to predict_classes."""

from grader.authoring.specimen import Right, Wrong

EVAL, MODE, CLASSES = "    model.eval()\n", "with torch.inference_mode():", "model(x).argmax(dim=1)"

SPECIMENS = [
    Wrong("no eval", edits=[(EVAL, "")], rung="job", check="test_values", says="model.eval()"),
    Wrong(
        "no_grad",
        edits=[(MODE, "with torch.no_grad():")],
        rung="job",
        check="test_inference_mode",
        says="with torch.inference_mode()",
    ),
    Wrong("over the rows", edits=[("dim=1", "dim=0")], rung="job", check="test_worked_example", says="dim=1"),
    Wrong(
        "the logits",
        edits=[(".argmax(dim=1)", "")],
        rung="job",
        check="test_worked_example",
        says="argmax tells",
    ),
    Right(
        "by max",
        edits=[
            (EVAL, ""),
            (
                "        return " + CLASSES,
                "        logits = model.eval()(x)\n    return logits.max(dim=-1).indices",
            ),
        ],
    ),
    Right(
        "a decorator, row by row",
        edits=[
            ("def predict", "@torch.inference_mode()\ndef predict"),
            (
                "    " + MODE + "\n        return " + CLASSES,
                "    return torch.tensor([int(row.argmax()) for row in model(x)])",
            ),
        ],
    ),
]
