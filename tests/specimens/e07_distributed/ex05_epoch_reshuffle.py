"""Answers to epoch_reshuffle that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "another seed by default",
        edits=[("    seed: int = 0,\n", "    seed: int = 42,\n")],
        check="test_seeds",
        says="without a seed",
    ),
    Wrong(
        "fills up with examples that are drawn each by itself",
        edits=own(
            "torch.Generator().manual_seed(1_000_003 * seed + epoch)",
            more="order[torch.randint(len(order), (64,), generator=gen)]",
        ),
        check="test_complete_epochs",
        says="more than twice",
    ),
    Wrong(
        "tells the epoch after it",
        edits=[(SET, ""), (BATCHES, BATCHES + "        sampler.set_epoch(epoch)\n")],
        check="test_other_orders",
        says="epoch 1 repeats",
    ),
    Wrong(
        "tells the next epoch after this one: right until a restart",
        edits=[(SET, ""), (BATCHES, BATCHES + "        sampler.set_epoch(epoch + 1)\n")],
        check="test_restart",
        says="with first_epoch=1",
    ),
    Wrong(
        "counts epochs from the restart",
        edits=[("set_epoch(epoch)", "set_epoch(epoch - first_epoch)")],
        check="test_restart",
    ),
    Wrong(
        "tells the epoch once, before the loop",
        edits=[(SET, ""), (LOOP, "    sampler.set_epoch(first_epoch)\n" + LOOP)],
        check="test_other_orders",
    ),
    Wrong(
        "tells the epoch when the order is fixed already",
        edits=[
            (SET, ""),
            (BATCHES, BATCHES.replace("train_batch", "sampler.set_epoch(epoch)\n            train_batch")),
        ],
        check="test_other_orders",
        says="epoch 1 repeats",
    ),
    Wrong(
        "has the loader shuffle instead",
        edits=instead(
            "    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)\n" + LOOP + BATCHES
        ),
        check="test_complete_epochs",
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
        check="test_other_orders",
        says="gives the same examples",
    ),
    Wrong(
        "a seed for each rank",
        edits=own("torch.Generator().manual_seed(1000 * seed + 10 * epoch + dist.get_rank())"),
        check="test_complete_epochs",
        says="different examples",
    ),
    Wrong("the global random stream", edits=own("None"), check="test_complete_epochs"),
    Wrong(
        "a seed from rank 0's random stream",
        edits=[
            (
                "from torch.utils.data",
                "import random\n\nimport torch\nimport torch.distributed as dist\nfrom torch.utils.data",
            ),
            (
                SAMPLER,
                "    drawn = torch.randint(10**6, (1,))\n    dist.broadcast(drawn, 0)\n    seed += drawn.item()\n"
                + SAMPLER,
            ),
        ],
        check="test_restart",
    ),
    Wrong(
        "the epoch in place of the seed",
        edits=own("torch.Generator().manual_seed(epoch)"),
        check="test_seeds",
        says="same for different seeds",
    ),
    Wrong("the default seed", edits=[(", seed=seed)", ")")], check="test_seeds"),
    Wrong(
        "no shuffling",
        edits=[("shuffle=True", "shuffle=False")],
        check="test_other_orders",
        says="is not shuffled",
    ),
    Wrong(
        "drops what cannot be shared out",
        edits=[("seed=seed)", "seed=seed, drop_last=True)")],
        check="test_complete_epochs",
    ),
    Wrong(
        "drops the last batch",
        edits=[("sampler=sampler)", "sampler=sampler, drop_last=True)")],
        check="test_complete_epochs",
        says="sizes of the batches",
    ),
    Wrong(
        "splits batch_size among the ranks",
        edits=[
            (
                "batch_size=batch_size, sampler",
                "batch_size=max(1, batch_size // sampler.num_replicas), sampler",
            )
        ],
        check="test_complete_epochs",
    ),
    Wrong(
        "starts from the beginning",
        edits=[("range(first_epoch, epochs)", "range(epochs)")],
        check="test_complete_epochs",
    ),
    Wrong(
        "so many epochs more",
        edits=[("range(first_epoch, epochs)", "range(first_epoch, first_epoch + epochs)")],
        check="test_complete_epochs",
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
        check="test_reads",
    ),
    Wrong(
        "seeds the global stream for its order",
        edits=own("torch.manual_seed(1000 * seed + epoch)"),
        check="test_seeds",
        says="seeds the global random stream of torch",
    ),
    Wrong(
        "seeds by the hash of a text, another one in each process",
        edits=own('torch.Generator().manual_seed(hash(f"{seed} {epoch}") % 2**32)'),
        check="test_complete_epochs",
        says="different examples of epoch",
    ),
    Wrong(
        "fills each share up from itself: nothing where there are more ranks than examples",
        edits=[
            (
                "from torch.utils.data",
                "import torch\nimport torch.distributed as dist\nfrom torch.utils.data",
            ),
            (
                ALL,
                f"""{LOOP}        gen = torch.Generator().manual_seed(1000 * seed + epoch)
        order = torch.randperm(len(dataset), generator=gen).tolist()
        mine = order[dist.get_rank() :: dist.get_world_size()]
        mine += mine[: -(-len(order) // dist.get_world_size()) - len(mine)]
        loader = DataLoader(dataset, batch_size=batch_size, sampler=mine)
{BATCHES}""",
            ),
        ],
        check="test_complete_epochs",
        says="2 examples, 5 ranks",
    ),
    Wrong(
        "one order, which starts elsewhere in each epoch",
        edits=own(
            "torch.Generator().manual_seed(seed)",
            "order.roll(epoch)[dist.get_rank() :: dist.get_world_size()]",
        ),
        check="test_other_orders",
        says="epoch 1 is the order of epoch 0",
    ),
    Wrong(
        "ten orders in turn",
        edits=[("set_epoch(epoch)", "set_epoch(epoch % 10)")],
        check="test_other_orders",
        says="in a run with first_epoch=4800",
    ),
    Wrong(
        "seeds the global stream for the epoch, and puts it back after it",
        edits=[
            ("from torch.utils.data", "import torch\nfrom torch.utils.data"),
            (
                BATCHES,
                """        with torch.random.fork_rng():
            torch.manual_seed(seed + epoch)
            for batch in loader:
                train_batch(epoch, batch)
""",
            ),
        ],
        check="test_seeds",
        says="seeds the global random stream of torch for train_batch",
    ),
    Wrong(
        "another order for another batch_size",
        edits=[("seed=seed)", "seed=1000 * seed + batch_size)")],
        check="test_restart",
        says="batch_size=4",
    ),
    Wrong(
        "the low byte of the seed",
        edits=[("seed=seed)", "seed=5000 * (seed % 256))")],
        check="test_seeds",
        says="12800",
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
        check="test_complete_epochs",
        says="more than twice",
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
    Right(
        "skips the epochs that are over, and has rank 0 tell its order",
        edits=[
            (
                "from torch.utils.data import DataLoader, Dataset, DistributedSampler",
                "import random\n\nimport torch.distributed as dist\nfrom torch.utils.data import DataLoader, Dataset, Subset",
            ),
            (
                ALL,
                """    rank, ranks = dist.get_rank(), dist.get_world_size()
    dice = random.Random(seed)
    for epoch in range(epochs):
        order = list(range(len(dataset)))
        dice.shuffle(order)
        if epoch >= first_epoch:
            told = [order]
            dist.broadcast_object_list(told, 0)
            (order,) = told
            share = -(-len(order) // ranks)
            order = (order * ranks)[: share * ranks]
            mine = Subset(dataset, order[rank * share : rank * share + share])
            for batch in DataLoader(mine, batch_size):
                train_batch(epoch, batch)
""",
            ),
        ],
    ),
    Wrong(
        "fills up with a slice, which is too short for many ranks",
        edits=own("torch.Generator().manual_seed(1_000_003 * seed + epoch)", more="order"),
        check="test_complete_epochs",
        says="2 examples, 5 ranks",
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
        check="test_seeds",
        says="numbers of another epoch",
    ),
]
