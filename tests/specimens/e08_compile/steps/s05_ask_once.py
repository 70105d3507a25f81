"""Answers to ask_once."""

from grader.authoring.specimen import Right, Wrong

MEAN = "torch.stack(losses).mean().item()"

SPECIMENS = [
    Wrong(
        "float waits too",
        edits=[(MEAN, "sum(float(loss) for loss in losses) / len(losses)")],
        rung="job",
        check="test_one_wait",
        says="5 waits",
    ),
    Wrong(
        "a new tensor of the numbers",
        edits=[(MEAN, "torch.tensor(losses).mean().item()")],
        rung="job",
        check="test_one_wait",
        says="more than once",
    ),
    Wrong("a tensor", edits=[(MEAN, "torch.stack(losses).mean()")], rung="job", check="test_worked_example"),
    Wrong(
        "the sum",
        edits=[(MEAN, "torch.stack(losses).sum().item()")],
        rung="job",
        check="test_values",
        says="not the mean",
    ),
    Right(
        "a loop that adds tensors",
        edits=[
            (
                f"    return {MEAN}",
                "    total = 0\n    for loss in losses:\n        total = total + loss.detach()\n    return total.item() / len(losses)",
            )
        ],
    ),
    Right("Python's sum", edits=[(MEAN, "float(sum(losses) / len(losses))")]),
]
