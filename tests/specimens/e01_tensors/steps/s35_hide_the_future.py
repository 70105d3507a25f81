"""Answers to hide_the_future."""

from grader.authoring.specimen import Right, Wrong

MASK, FILL = "torch.ones(scores.shape, dtype=torch.bool).triu(1)", 'scores.masked_fill(future, float("-inf"))'

SPECIMENS = [
    Wrong(
        "the diagonal too",
        edits=[(".triu(1)", ".triu()")],
        rung="job",
        check="test_worked_example",
        says="the diagonal is hidden as well",
    ),
    Wrong(
        "the past",
        edits=[(".triu(1)", ".tril(-1)")],
        rung="job",
        check="test_values",
        says="the past is hidden",
    ),
    Wrong(
        "the mask the wrong way round",
        edits=[(".triu(1)", ".tril()")],
        rung="job",
        check="test_values",
        says="True where it should be False",
    ),
    Wrong(
        "zeros",
        edits=[(FILL, "scores.tril()")],
        rung="job",
        check="test_worked_example",
        says="zeros above the diagonal",
    ),
    Wrong(
        "infinity times a mask",
        edits=[(FILL, 'scores + future * float("-inf")')],
        rung="job",
        check="test_worked_example",
        says="do not multiply",
    ),
    Right(
        "infinities above, added",
        edits=[(FILL, 'scores + torch.full(scores.shape, float("-inf")).triu(1)')],
    ),
    Right(
        "two loops",
        edits=[
            (MASK, "scores.clone()"),
            (
                "return " + FILL,
                "for i in range(len(scores)):\n        for j in range(i + 1, len(scores)):\n"
                "            future[i, j] = -torch.inf\n    return future",
            ),
        ],
    ),
    Right("where", edits=[(FILL, "torch.where(future, -torch.inf, scores)")]),
]
