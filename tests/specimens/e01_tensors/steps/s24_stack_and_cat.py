"""Answers to stack_and_cat."""

from grader.authoring.specimen import Right, Wrong

TOP, END = "torch.stack([a, b, c])", "torch.cat([a, b, c])"

SPECIMENS = [
    Wrong(
        "cat twice",
        edits=[(TOP, "torch.cat((a, b, c))")],
        rung="job",
        check="test_stacked_worked_example",
        says="`cat` adds no dim",
    ),
    Wrong(
        "stack twice",
        edits=[(END, "torch.stack((a, b, c))")],
        rung="job",
        check="test_joined_worked_example",
        says="`stack` adds a dim",
    ),
    Wrong(
        "stacked, then flattened",
        edits=[(END, "torch.stack((a, b, c)).flatten()")],
        rung="job",
        check="test_joined_values",
        says="wants equal shapes",
    ),
    Wrong(
        "columns",
        edits=[(TOP, "torch.stack([a, b, c], dim=1)")],
        rung="job",
        check="test_stacked_values",
        says="column",
    ),
    Right(
        "cat of rows",
        edits=[(TOP, "torch.cat([a[None], b[None], c[None]])"), (END, "torch.hstack([a, b, c])")],
    ),
    Right(
        "Python's lists",
        edits=[(TOP, "torch.vstack([a, b, c])"), (END, "torch.tensor(a.tolist() + b.tolist() + c.tolist())")],
    ),
]
