"""Answers to two_learning_rates."""

from grader.authoring.specimen import Right, Wrong

GROUPS = "torch.optim.SGD([body, head])"

SPECIMENS = [
    Wrong(
        "exchanged",
        edits=[("model.body.", "model.x."), ("model.head.", "model.body."), ("model.x.", "model.head.")],
        rung="job",
        check="test_worked_example",
        says="the body moves with the large rate",
    ),
    Wrong(
        "one rate",
        edits=[(GROUPS, "torch.optim.SGD(model.parameters(), lr=large)")],
        rung="job",
        check="test_worked_example",
        says="the body moves with the large rate",
    ),
    Wrong(
        "the head alone",
        edits=[(GROUPS, "torch.optim.SGD([head])")],
        rung="job",
        check="test_worked_example",
        says="body does not move",
    ),
    Wrong(
        "two optimizers",
        edits=[(GROUPS, "torch.optim.SGD([body]), torch.optim.SGD([head])")],
        rung="job",
        check="test_worked_example",
        says="returns no optimizer",
    ),
    Right(
        "the large rate by default",
        edits=[(', "lr": large', ""), (GROUPS, "torch.optim.SGD([body, head], lr=large)")],
    ),
    Right(
        "a group that is added",
        edits=[
            (
                "    return " + GROUPS,
                "    optimizer = torch.optim.SGD([body])\n    optimizer.add_param_group(head)\n    return optimizer",
            )
        ],
    ),
]
