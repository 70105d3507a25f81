"""Answers to an_optimizer."""

from grader.authoring.specimen import Right, Wrong

MAKE = "torch.optim.AdamW(model.parameters(), lr=lr)"

SPECIMENS = [
    Wrong(
        "the default rate",
        edits=[(MAKE, "torch.optim.AdamW(model.parameters())")],
        rung="job",
        check="test_values",
        says="learning rate is not the one that is given",
    ),
    Wrong(
        "SGD",
        edits=[(MAKE, "torch.optim.SGD(model.parameters(), lr=lr)")],
        rung="job",
        check="test_values",
        says="AdamW is asked for",
    ),
    Wrong(
        "the weight alone",
        edits=[(MAKE, "torch.optim.AdamW([model.weight], lr=lr)")],
        rung="job",
        check="test_values",
        says="all parameters",
    ),
    Wrong(
        "not called",
        edits=[(MAKE, "torch.optim.AdamW")],
        rung="job",
        check="test_values",
        says="returns no optimizer",
    ),
    Right("a list of parameters", edits=[(MAKE, "torch.optim.AdamW(list(model.parameters()), lr)")]),
    Right(
        "a name for the class, and groups",
        edits=[
            ("import torch\n", "import torch\nfrom torch.optim import AdamW\n"),
            (MAKE, 'AdamW([{"params": model.parameters(), "lr": lr}])'),
        ],
    ),
]
