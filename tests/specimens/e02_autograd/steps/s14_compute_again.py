"""Answers to compute_again."""

from grader.authoring.specimen import Right, Wrong

CALL = "checkpoint(block, x, use_reentrant=False)"

SPECIMENS = [
    Wrong(
        "called as usual",
        edits=[(CALL, "block(x)")],
        rung="job",
        check="test_block_runs_again",
        says="called as usual",
    ),
    Wrong(
        "the result is handed to checkpoint",
        edits=[(CALL, "checkpoint(lambda y: y, block(x), use_reentrant=False)")],
        rung="job",
        check="test_block_runs_again",
        says="was kept",
    ),
    Wrong(
        "nothing is recorded",
        edits=[
            ("    return " + CALL, "    import torch\n    with torch.no_grad():\n        return block(x)")
        ],
        rung="job",
        check="test_block_runs_again",
        says="nothing was recorded",
    ),
    Wrong(
        "run on what it gave",
        edits=[(CALL, "checkpoint(block, block(x), use_reentrant=False)")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "without x",
        edits=[(CALL, "checkpoint(block, use_reentrant=False)")],
        rung="job",
        check="test_worked_example",
    ),
    Right("reentrant", edits=[(CALL, "checkpoint(block, x, use_reentrant=True)")]),
    Right(
        "by its full name",
        edits=[
            ("from torch.utils.checkpoint import checkpoint", "import torch.utils.checkpoint"),
            (CALL, "torch.utils.checkpoint.checkpoint(lambda z: block(z), x, use_reentrant=False)"),
        ],
    ),
]
