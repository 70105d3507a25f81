"""Answers to sum_over_ranks."""

from grader.authoring.specimen import Right, Wrong

COPY = "total = x.clone()"
MEAN = "return total, total / dist.get_world_size()"

SPECIMENS = [
    Wrong("writes into x", edits=[(COPY, "total = x")], rung="job", check="test_x_stays", says="a copy"),
    Wrong(
        "takes what all_reduce returns",
        edits=[("dist.all_reduce(total)", "total = dist.all_reduce(total)")],
        rung="job",
        check="test_worked_example",
        says="NoneType",
    ),
    Wrong(
        "no message",
        edits=[("    dist.all_reduce(total)  # in place\n", "")],
        rung="job",
        check="test_worked_example",
        says="this rank alone",
    ),
    Wrong("two ranks always", edits=[("dist.get_world_size()", "2")], rung="job", check="test_values"),
    Wrong(
        "no mean", edits=[(MEAN, "return total, total")], rung="job", check="test_values", says="not the mean"
    ),
    Wrong(
        "rank 0 alone adds up",
        edits=[("    dist.all_reduce", "    if dist.get_rank() == 0:\n        dist.all_reduce")],
        rung="job",
        check="test_worked_example",
        says="rank 0 waits",
    ),
    Right(
        "gathers and adds",
        edits=[
            (
                "    total = x.clone()\n    dist.all_reduce(total)  # in place\n",
                "    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]\n"
                "    dist.all_gather(parts, x)\n    total = sum(parts)\n",
            ),
            ("import torch.distributed", "import torch\nimport torch.distributed"),
        ],
    ),
    Right(
        "adds 0",
        edits=[(COPY, "total = x + 0"), ("all_reduce(total)", "all_reduce(total, op=dist.ReduceOp.SUM)")],
    ),
]
