"""Answers to scale_by_the_training_rows."""

from grader.authoring.specimen import Right, Wrong

STATS, RETURN = "train.mean(dim=0), train.std(dim=0)", "return (train - mean) / std, (test - mean) / std"

SPECIMENS = [
    Wrong(
        "each by its own",
        edits=[(RETURN, "return (train - mean) / std, (test - test.mean(dim=0)) / test.std(dim=0)")],
        rung="job",
        check="test_values",
        says="by their own mean",
    ),
    Wrong(
        "together",
        edits=[
            (STATS, "torch.cat([train, test]).mean(dim=0), torch.cat([train, test]).std(dim=0)"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
        rung="job",
        check="test_worked_example",
        says="together",
    ),
    Wrong(
        "one for all columns",
        edits=[(STATS, "train.mean(), train.std()")],
        rung="job",
        check="test_values",
        says="dim=0",
    ),
    Wrong(
        "test as it is",
        edits=[("(test - mean) / std", "test")],
        rung="job",
        check="test_worked_example",
        says="test rows are not scaled",
    ),
    Wrong(
        "by rows",
        edits=[(STATS, "train.mean(dim=1, keepdim=True), train.std(dim=1, keepdim=True)")],
        rung="job",
        check="test_worked_example",
        says="of each row",
    ),
    Right(
        "column by column",
        edits=[
            (
                "    mean, std",
                "    train, test, known = train.clone(), test.clone(), train\n    for c in range(train.shape[1]):\n        test[:, c] = (test[:, c] - known[:, c].mean()) / known[:, c].std()\n        train[:, c] = (train[:, c] - known[:, c].mean()) / known[:, c].std()\n    return train, test\n    mean, std",
            )
        ],
    ),
    Right(
        "the variance, and keepdim",
        edits=[(STATS, "train.mean(dim=0, keepdim=True), train.var(dim=0, keepdim=True).sqrt()")],
    ),
]
