"""Answers to only_rank_zero_writes."""

from grader.authoring.specimen import Right, Wrong

IF = "    if dist.get_rank() == 0:\n        torch.save(state, path)\n"
BARRIER = "    dist.barrier()\n"
LOAD = "    return torch.load(path)\n"

SPECIMENS = [
    Wrong(
        "nobody waits",
        edits=[(BARRIER, "")],
        rung="job",
        check="test_others_wait",
        says="before the file is there",
    ),
    Wrong(
        "waits first",
        edits=[(IF + BARRIER, BARRIER + IF)],
        rung="job",
        check="test_others_wait",
        says="after saving",
    ),
    Wrong(
        "rank 0 alone waits",
        edits=[(BARRIER, "        dist.barrier()\n")],
        rung="job",
        check="test_others_wait",
        says="rank 0 waits",
    ),
    Wrong(
        "all write",
        edits=[(IF, "    torch.save(state, path)\n")],
        rung="job",
        check="test_one_writes",
        says="only rank 0",
    ),
    Wrong(
        "returns its own state",
        edits=[(LOAD, "    return state\n")],
        rung="job",
        check="test_worked_example",
        says="the rank's own state",
    ),
    Right(
        "two ways",
        edits=[
            (
                IF + BARRIER,
                "    if dist.get_rank() > 0:\n        dist.barrier()\n    else:\n        torch.save(state, path)\n        dist.barrier()\n",
            )
        ],
    ),
    Right("a message in place of a barrier", edits=[(BARRIER, "    dist.all_reduce(torch.zeros(1))\n")]),
]
