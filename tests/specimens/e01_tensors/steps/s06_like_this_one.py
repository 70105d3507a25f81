"""Answers to like_this_one."""

from grader.authoring.specimen import Right, Wrong

LINE = "return torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, value)"
OF_SHAPE = "return torch.zeros(x.shape), torch.ones(x.shape), torch.full(x.shape, float(value))"
OF_DTYPE = "return torch.zeros(x.shape, dtype=x.dtype), torch.ones(x.shape, dtype=x.dtype), torch.full(x.shape, value, dtype=x.dtype)"

SPECIMENS = [
    Wrong(
        "the shape only",
        edits=[(LINE, OF_SHAPE)],
        rung="job",
        check="test_worked_example",
        says="takes only the shape from x",
    ),
    Wrong(
        "on the CPU",
        edits=[(LINE, OF_DTYPE)],
        rung="job",
        check="test_stays_on_the_device",
        says="made on or moved to the CPU",
    ),
    Wrong(
        "no value",
        edits=[("torch.full_like(x, value)", "torch.ones_like(x)")],
        rung="job",
        check="test_values",
    ),
    Right("by arithmetic", edits=[(LINE, "zeros = 0 * x\n    return zeros, zeros + 1, zeros + value")]),
    Right(
        "everything named",
        edits=[
            (
                "torch.zeros_like(x), torch.ones_like(x)",
                "torch.zeros(x.shape, dtype=x.dtype, device=x.device), x.new_ones(x.shape)",
            )
        ],
    ),
]
