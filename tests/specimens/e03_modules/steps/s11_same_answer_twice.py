"""Answers to same_answer_twice."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong(
        "dropout stays on",
        edits=[("    model.eval()\n", "")],
        rung="job",
        check="test_values",
        says="dropout was on",
    ),
    Wrong(
        "left in evaluation mode",
        edits=[("    model.train()\n", "")],
        rung="job",
        check="test_values",
        says="left in evaluation mode",
    ),
    Wrong(
        "the wrong way round",
        edits=[
            ("    model.eval()\n", "    model.train()\n"),
            ("\n    model.train()\n    return", "\n    model.eval()\n    return"),
        ],
        rung="job",
        check="test_values",
        says="dropout was on",
    ),
    Wrong(
        "no_grad for eval",
        edits=[
            (
                "    model.eval()\n    predictions = model(x)",
                "    import torch\n    with torch.no_grad():\n        predictions = model(x)",
            )
        ],
        rung="job",
        check="test_values",
        says="dropout was on",
    ),
    Wrong(
        "runs after training goes on",
        edits=[("    predictions = model(x)\n", ""), ("return predictions", "return model(x)")],
        rung="job",
        check="test_values",
        says="dropout was on",
    ),
    Right(
        "without a graph, by train(False)",
        edits=[
            (
                "    model.eval()\n    predictions = model(x)\n    model.train()",
                "    import torch\n    model.train(False)\n    with torch.no_grad():\n        predictions = model(x)\n    model.train(True)",
            )
        ],
    ),
    Right(
        "whatever happens",
        edits=[
            (
                "    predictions = model(x)\n    model.train()\n    return predictions",
                "    try:\n        return model(x)\n    finally:\n        model.train()",
            )
        ],
    ),
]
