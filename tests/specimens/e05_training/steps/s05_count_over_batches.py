"""Answers to count_over_batches."""

from grader.authoring.specimen import Right, Wrong

COUNT, ROWS, SHARE = "count += right.sum().item()", "rows += len(labels)", "return count / rows"

SPECIMENS = [
    Wrong(
        "the mean of means",
        edits=[(COUNT, "count += right.float().mean().item()"), (ROWS, "rows += 1")],
        rung="job",
        check="test_worked_example",
        says="mean of the batches' accuracies",
    ),
    Wrong(
        "divided by the batches",
        edits=[(SHARE, "return count / len(loader)")],
        rung="job",
        check="test_worked_example",
        says="number of batches",
    ),
    Wrong(
        "the last batch alone",
        edits=[(COUNT, "count = right.sum().item()"), (ROWS, "rows = len(labels)")],
        rung="job",
        check="test_worked_example",
        says="only the last batch",
    ),
    Right("weighed means", edits=[(COUNT, "count += right.float().mean().item() * len(labels)")]),
    Right(
        "all rows put together",
        edits=[
            ("count = rows = 0", "rows = []"),
            (COUNT, "rows.append(right)"),
            ("            " + ROWS + "\n", ""),
            (SHARE, "return torch.cat(rows).float().mean().item()"),
        ],
    ),
    Right(
        "the dataset's length",
        edits=[("            " + ROWS + "\n", ""), (SHARE, "return float(count / len(loader.dataset))")],
    ),
]
