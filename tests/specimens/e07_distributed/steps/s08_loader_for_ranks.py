"""Answers to loader_for_ranks."""

from grader.authoring.specimen import Right, Wrong

SET = "    sampler.set_epoch(epoch)\n"
LOADER = "DataLoader(dataset, batch_size=batch_size, sampler=sampler)"

SPECIMENS = [
    Wrong("no set_epoch", edits=[(SET, "")], rung="job", check="test_epochs", says="set_epoch(epoch)"),
    Wrong(
        "shuffles all rows on each rank",
        edits=[(LOADER, "DataLoader(dataset, batch_size=batch_size, shuffle=True)")],
        rung="job",
        check="test_shares",
        says="DistributedSampler",
    ),
    Wrong(
        "shuffle as well",
        edits=[("sampler=sampler)", "sampler=sampler, shuffle=True)")],
        rung="job",
        check="test_shares",
        says="mutually exclusive",
    ),
    Wrong(
        "does not shuffle",
        edits=[("Sampler(dataset)", "Sampler(dataset, shuffle=False)")],
        rung="job",
        check="test_epochs",
    ),
    Wrong(
        "no batch size",
        edits=[("batch_size=batch_size, ", "")],
        rung="job",
        check="test_shares",
        says="sizes of the batches",
    ),
    Right("a seed for each epoch", edits=[("Sampler(dataset)", "Sampler(dataset, seed=epoch)"), (SET, "")]),
    Right(
        "a permutation of its own",
        edits=[
            (
                f"    sampler = DistributedSampler(dataset)\n{SET}    return {LOADER}",
                "    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch)).tolist()\n"
                "    mine = order[dist.get_rank() :: dist.get_world_size()]\n"
                "    return DataLoader(dataset, batch_size, sampler=mine)",
            ),
            ("from torch.utils", "import torch\nimport torch.distributed as dist\nfrom torch.utils"),
        ],
    ),
]
