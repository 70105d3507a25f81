"""Answers to my_share."""

from grader.authoring.specimen import Right, Wrong

SHARE = "x[rank::world_size]"
TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")

SPECIMENS = [
    Wrong(
        "a block",
        edits=[(SHARE, "x.chunk(world_size)[rank]")],
        rung="job",
        check="test_worked_example",
        says="stand together",
    ),
    Wrong(
        "everybody begins at row 0",
        edits=[(SHARE, "x[::world_size]")],
        rung="job",
        check="test_values",
        says="begins with row 0",
    ),
    Wrong("no step", edits=[(SHARE, "x[rank:world_size]")], rung="job", check="test_worked_example"),
    Wrong(
        "exchanged",
        edits=[(SHARE, "x[world_size::max(rank, 1)]")],
        rung="job",
        check="test_values",
        says="exchanged",
    ),
    Right("row numbers", edits=[TORCH, (SHARE, "x[torch.arange(rank, len(x), world_size)]")]),
    Right("a mask", edits=[TORCH, (SHARE, "x[torch.arange(len(x)) % world_size == rank]")]),
    Right("a loop", edits=[TORCH, (SHARE, "torch.stack([x[i] for i in range(rank, len(x), world_size)])")]),
]
