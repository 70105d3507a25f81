"""Answers to loader_settings that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TEST = "DataLoader(test, batch_size, num_workers=workers, generator=torch.Generator())"
DROP = "drop_last=len(train) >= batch_size"
SEEDED = "        generator=torch.Generator().manual_seed(seed),\n"
TRAIN = "    train_loader = DataLoader(\n        train,\n        batch_size,\n        shuffle=True,\n"

SPECIMENS = [
    Wrong(
        "shuffles the test set",
        edits=[(TEST, TEST.replace("batch_size,", "batch_size, shuffle=True,"))],
        check="test_test_loader",
        says="the test set is shuffled",
        rung="job",
    ),
    Wrong(
        "drops test examples",
        edits=[(TEST, TEST.replace("batch_size,", "batch_size, drop_last=True,"))],
        check="test_test_loader",
        says="drop_last",
        rung="job",
    ),
    Wrong(
        "keeps a last batch of one to train on",
        edits=[(DROP, "drop_last=False")],
        check="test_training_batches",
        says="drop_last=True is missing",
        rung="job",
    ),
    Wrong(
        "draws with replacement",
        edits=[
            (
                "        shuffle=True,\n",
                "        sampler=torch.utils.data.RandomSampler(\n"
                "            train, replacement=True, generator=torch.Generator().manual_seed(seed)\n"
                "        ),\n",
            )
        ],
        check="test_training_batches",
        says="distinct examples",
        rung="job",
    ),
    Wrong(
        "no shuffle for training either",
        edits=[("        shuffle=True,\n", "")],
        check="test_new_orders",
        says="no shuffle",
        rung="job",
    ),
    Wrong(
        "shuffles once",
        edits=[
            (
                TRAIN,
                "    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))\n"
                + TRAIN.replace("train,", "torch.utils.data.Subset(train, order.tolist()),").replace(
                    "        shuffle=True,\n", ""
                ),
            )
        ],
        check="test_new_orders",
        says="the same order comes in two epochs",
        rung="job",
    ),
    Wrong(
        "leaves the same examples out each time",
        edits=[
            (
                TRAIN,
                "    if len(train) > batch_size:\n"
                "        whole = range(len(train) // batch_size * batch_size)\n"
                "        train = torch.utils.data.Subset(train, whole)\n" + TRAIN,
            )
        ],
        check="test_new_orders",
        says="left out in each",
        rung="job",
    ),
    Wrong(
        "a generator without the seed",
        edits=[(SEEDED, "        generator=torch.Generator(),\n")],
        check="test_seeds",
        says="five seeds",
        rung="job",
    ),
    Wrong(
        "seeds the global stream alone",
        edits=[(SEEDED, ""), (TRAIN, "    torch.manual_seed(seed)\n" + TRAIN)],
        check="test_global_draws",
        says="drawn from the global stream",
        rung="job",
    ),
    Wrong(
        "workers for training alone",
        edits=[(TEST, TEST.replace(" num_workers=workers,", ""))],
        check="test_workers",
        rung="job",
    ),
    Wrong(
        "no batch at all of a few examples",
        edits=[(DROP, "drop_last=True")],
        check="test_few_examples",
    ),
    Wrong(
        "the test loader draws from the global stream",
        edits=[(TEST, TEST.replace(", generator=torch.Generator()", ""))],
        check="test_global_stream",
        says="iterating the test loader",
    ),
    Wrong(
        "seeds the global stream too",
        edits=[(TRAIN, "    torch.manual_seed(seed)\n" + TRAIN)],
        check="test_global_stream",
        says="make_loaders",
    ),
    Wrong(
        "one generator for both loaders",
        edits=[
            (TRAIN, "    generator = torch.Generator().manual_seed(seed)\n" + TRAIN),
            (SEEDED, "        generator=generator,\n"),
            (TEST, TEST.replace("torch.Generator()", "generator")),
        ],
        check="test_other_loaders",
        says="loaders share a generator",
    ),
    Works(
        "the settings, and a generator for training",
        code="""
import torch
from torch.utils.data import DataLoader


def make_loaders(train, test, batch_size, seed=0, workers=0):
    generator = torch.Generator().manual_seed(seed)
    train_loader = DataLoader(
        train, batch_size, shuffle=True, drop_last=True, num_workers=workers, generator=generator
    )
    test_loader = DataLoader(test, batch_size, shuffle=False, num_workers=workers)
    return train_loader, test_loader
""",
    ),
    Works(
        "as the page on reproducibility: one generator, handed to both",
        code="""
import torch
from torch.utils.data import DataLoader


def make_loaders(train, test, batch_size, seed=0, workers=0):
    g = torch.Generator()
    g.manual_seed(seed)
    options = dict(batch_size=batch_size, num_workers=workers, generator=g)
    return DataLoader(train, shuffle=True, drop_last=True, **options), DataLoader(test, **options)
""",
    ),
    Right(
        "samplers made by hand",
        code="""
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler


def make_loaders(train, test, batch_size, seed=0, workers=0):
    g = torch.Generator()
    g.manual_seed(seed)
    few = len(train) < batch_size
    batches = BatchSampler(RandomSampler(train, generator=g), batch_size, drop_last=not few)
    in_order = BatchSampler(SequentialSampler(test), batch_size, drop_last=False)
    seeds = torch.Generator()
    seeds.manual_seed(0)
    return (
        DataLoader(train, batch_sampler=batches, num_workers=workers, generator=seeds),
        DataLoader(test, batch_sampler=in_order, num_workers=workers, generator=torch.Generator()),
    )
""",
    ),
    Right(
        "a smaller batch where there is little to train on",
        code="""
import torch
from torch.utils.data import DataLoader


def make_loaders(train, test, batch_size, seed=0, workers=0):
    order, seeds = torch.Generator(), torch.Generator()
    order.manual_seed(seed)
    size = min(batch_size, len(train))
    train_loader = DataLoader(train, size, True, drop_last=True, generator=order, num_workers=workers)
    return train_loader, DataLoader(test, batch_size, generator=seeds, num_workers=workers)
""",
    ),
]
