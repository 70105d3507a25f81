"""Answers to compute_again."""

from grader.authoring.specimen import Right, Wrong

CALL = "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"

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
        edits=[(CALL, "torch.utils.checkpoint.checkpoint(lambda y: y, block(x), use_reentrant=False)")],
        rung="job",
        check="test_block_runs_again",
        says="was kept",
    ),
    Wrong(
        "nothing is recorded",
        edits=[("    return " + CALL, "    with torch.no_grad():\n        return block(x)")],
        rung="job",
        check="test_block_runs_again",
        says="nothing was recorded",
    ),
    Wrong(
        "run on what it gave",
        edits=[(CALL, "torch.utils.checkpoint.checkpoint(block, block(x), use_reentrant=False)")],
        rung="job",
        check="test_values",
    ),
    Wrong(
        "without x",
        edits=[(CALL, "torch.utils.checkpoint.checkpoint(block, use_reentrant=False)")],
        rung="job",
        check="test_worked_example",
    ),
    Right("reentrant", edits=[(CALL, "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=True)")]),
    Right(
        "by its short name",
        edits=[
            ("import torch.utils.checkpoint", "from torch.utils.checkpoint import checkpoint"),
            (CALL, "checkpoint(lambda z: block(z), x, use_reentrant=False)"),
        ],
    ),
]
