"""Answers to epoch_reshuffle that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SAMPLER = "    sampler = DistributedSampler(dataset, shuffle=True, seed=seed)\n"
LOADER = "    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)\n"
LOOP = "    for epoch in range(first_epoch, epochs):\n"
SET = "        sampler.set_epoch(epoch)  # before the iterator is made: it takes the order then\n"
BATCHES = """        for batch in loader:
            train_batch(epoch, batch)
"""
ALL = SAMPLER + LOADER + LOOP + SET + BATCHES


def instead(body):
    return [(ALL, body)]


def own(generator, indices="order[dist.get_rank() :: dist.get_world_size()]", more="order.repeat(9)"):
    """A permutation of one's own, from `generator`."""
    return [
        ("from torch.utils.data", "import torch\nimport torch.distributed as dist\nfrom torch.utils.data"),
        (
            ALL,
            f"""{LOOP}        gen = {generator}
        order = torch.randperm(len(dataset), generator=gen)
        order = torch.cat([order, {more}[: -len(order) % dist.get_world_size()]])
        loader = DataLoader(dataset, batch_size=batch_size, sampler={indices}.tolist())
{BATCHES}""",
        ),
    ]


SPECIMENS = [
    Wrong(
        "tells the epoch once, before the loop",
        edits=[(SET, ""), (LOOP, "    sampler.set_epoch(first_epoch)\n" + LOOP)],
        rung="job",
        check="test_other_orders",
        says="epoch 1 repeats",
    ),
    Wrong(
        "tells the next epoch after this one: right until a restart",
        edits=[(SET, ""), (BATCHES, BATCHES + "        sampler.set_epoch(epoch + 1)\n")],
        rung="job",
        check="test_restart",
        says="are the ones of epoch 0",
    ),
    Wrong(
        "has the loader shuffle instead",
        edits=instead(
            "    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)\n" + LOOP + BATCHES
        ),
        rung="job",
        check="test_complete_epochs",
        says="each rank gets all examples",
    ),
    Wrong(
        "shuffles each rank's own share",
        edits=[
            (
                "from torch.utils.data import DataLoader, Dataset, DistributedSampler",
                "import torch\nimport torch.distributed as dist\nfrom torch.utils.data import DataLoader, Dataset, DistributedSampler",
            ),
            (
                ALL,
                LOOP
                + """        mine = torch.tensor(list(DistributedSampler(dataset, seed=seed)))
        gen = torch.Generator().manual_seed(seed + epoch)
        mine = mine[torch.randperm(len(mine), generator=gen)].tolist()
        loader = DataLoader(dataset, batch_size=batch_size, sampler=mine)
"""
                + BATCHES,
            ),
        ],
        rung="job",
        check="test_other_orders",
        says="gives the same examples",
    ),
    Wrong(
        "a seed for each rank",
        edits=own("torch.Generator().manual_seed(1000 * seed + 10 * epoch + dist.get_rank())"),
        rung="job",
        check="test_complete_epochs",
        says="do not shuffle alike",
    ),
    Wrong(
        "the epoch in place of the seed",
        edits=own("torch.Generator().manual_seed(epoch)"),
        rung="job",
        check="test_seeds",
        says="same for different seeds",
    ),
    Wrong(
        "no shuffling",
        edits=[("shuffle=True", "shuffle=False")],
        rung="job",
        check="test_other_orders",
        says="is not shuffled",
    ),
    Wrong(
        "drops the last batch",
        edits=[("sampler=sampler)", "sampler=sampler, drop_last=True)")],
        rung="job",
        check="test_complete_epochs",
        says="number of examples",
    ),
    Wrong(
        "starts from the beginning",
        edits=[("range(first_epoch, epochs)", "range(epochs)")],
        rung="job",
        check="test_complete_epochs",
        says="the epochs on rank 0",
    ),
    Wrong(
        "one order, which starts elsewhere in each epoch",
        edits=own(
            "torch.Generator().manual_seed(seed)",
            "order.roll(epoch)[dist.get_rank() :: dist.get_world_size()]",
        ),
        rung="job",
        check="test_other_orders",
        says="epoch 2 gives the same examples",
    ),
    Wrong(
        "drops what cannot be shared out",
        edits=[("seed=seed)", "seed=seed, drop_last=True)")],
        rung="fine",
        check="test_uneven",
    ),
    Wrong(
        "fills up with a slice, which is too short for many ranks",
        edits=own("torch.Generator().manual_seed(1_000_003 * seed + epoch)", more="order"),
        rung="fine",
        check="test_uneven",
    ),
    Wrong(
        "the last example as often as numbers are missing",
        edits=[
            (
                ALL,
                """    ranks, rank, size = dist.get_world_size(), dist.get_rank(), len(dataset)
    for epoch in range(first_epoch, epochs):
        order = torch.randperm(size, generator=torch.Generator().manual_seed(5000 * seed + epoch)).tolist()
        order += [order[-1]] * (-size % ranks)
        for batch in DataLoader(dataset, batch_size=batch_size, sampler=order[rank::ranks]):
            train_batch(epoch, batch)
""",
            ),
            (
                "from typing import Any",
                "from typing import Any\n\nimport torch\nimport torch.distributed as dist",
            ),
        ],
        rung="fine",
        check="test_uneven",
        says="more than twice",
    ),
    Wrong(
        "reads all batches and keeps its own",
        edits=[
            (
                "from torch.utils.data",
                "import torch\nimport torch.distributed as dist\nfrom torch.utils.data",
            ),
            (
                ALL,
                LOOP
                + """        gen = torch.Generator().manual_seed(seed + epoch)
        order = torch.randperm(len(dataset), generator=gen)
        ranks = dist.get_world_size()
        order = torch.cat([order, order[: -len(order) % ranks]]).view(-1, ranks)
        for rows in order.split(batch_size):
            loaders = [DataLoader(dataset, batch_size, sampler=rows[:, r].tolist()) for r in range(ranks)]
            train_batch(epoch, [next(iter(loader)) for loader in loaders][dist.get_rank()])
""",
            ),
        ],
        rung="fine",
        check="test_reads",
    ),
    Wrong(
        "seeds the global stream for its order",
        edits=own("torch.manual_seed(1000 * seed + epoch)"),
        rung="fine",
        check="test_global_streams",
        says="seeds the global",
    ),
    Wrong(
        "seeds by the hash of a text, another one in each process",
        edits=own('torch.Generator().manual_seed(hash(f"{seed} {epoch}") % 2**32)'),
        rung="fine",
        check="test_global_streams",
    ),
    Wrong(
        "another order for another batch_size",
        edits=[("seed=seed)", "seed=1000 * seed + batch_size)")],
        rung="fine",
        check="test_batch_size",
    ),
    Wrong(
        "puts the global stream back after each epoch: dropout draws the same in all of them",
        edits=[
            ("from torch.utils.data", "import torch\nfrom torch.utils.data"),
            (
                BATCHES,
                "        with torch.random.fork_rng():\n"
                "            for batch in loader:\n"
                "                train_batch(epoch, batch)\n",
            ),
        ],
        rung="fine",
        check="test_global_streams",
        says="numbers of another epoch",
    ),
    Works(
        "a seed for all ranks in each epoch, and a permutation",
        code="""
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset


def run_epochs(dataset, train_batch, batch_size, epochs, first_epoch=0, seed=0):
    for epoch in range(first_epoch, epochs):
        torch.manual_seed(seed + epoch)
        order = torch.randperm(len(dataset)).tolist()
        mine = Subset(dataset, order[dist.get_rank() :: dist.get_world_size()])
        for batch in DataLoader(mine, batch_size=batch_size):
            train_batch(epoch, batch)
""",
    ),
    Works(
        "drops examples where ranks do not divide them",
        edits=[
            ("seed=seed)", "seed=seed, drop_last=True)"),
            (
                BATCHES,
                BATCHES + "        loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)\n",
            ),
        ],
    ),
    Right(
        "a permutation of its own",
        edits=own("torch.Generator().manual_seed(1_000_003 * seed + epoch)"),
    ),
    Right(
        "a new sampler for each epoch",
        edits=[
            (SAMPLER + LOADER, ""),
            (
                SET,
                "        sampler = DistributedSampler(dataset, seed=seed * 7919 + epoch)\n" + "    " + LOADER,
            ),
        ],
    ),
]
