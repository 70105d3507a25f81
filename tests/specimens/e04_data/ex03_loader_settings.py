"""Answers to loader_settings that people write."""

from grader.authoring.specimen import Right, Wrong

SHUFFLE = "        shuffle=True,\n"
DROP = "        drop_last=len(train) >= batch_size,\n"
WORKERS = "        num_workers=workers,\n"
GENERATOR = "        generator=torch.Generator().manual_seed(seed),\n"
MAKE = "    train_loader = DataLoader(\n        train,\n"
TEST = "test_loader = DataLoader(test, batch_size, num_workers=workers, generator=torch.Generator())"
RETURN = "    return train_loader, test_loader"

SPECIMENS = [
    Wrong(
        "an epoch counts when it has ended",
        edits=[
            (
                MAKE,
                """    class Orders(torch.utils.data.Sampler):
        epoch = 0

        def __len__(self):
            return len(train)

        def __iter__(self):
            stream = torch.Generator().manual_seed(7919 * seed + self.epoch)
            yield from torch.randperm(len(train), generator=stream).tolist()
            self.epoch += 1

"""
                + MAKE,
            ),
            (SHUFFLE, "        sampler=Orders(),\n"),
        ],
        check="test_broken_off",
    ),
    Wrong(
        "shuffles the test set",
        edits=[(TEST, TEST.replace("num_workers", "shuffle=True, num_workers"))],
        check="test_test_loader",
    ),
    Wrong(
        "drops test examples",
        edits=[(TEST, TEST.replace("num_workers", "drop_last=True, num_workers"))],
        check="test_test_loader",
    ),
    Wrong(
        "the whole test set in one batch",
        edits=[(TEST, TEST.replace("batch_size,", "max(len(test), 1),"))],
        check="test_test_loader",
    ),
    Wrong(
        "test examples one by one",
        edits=[(TEST, TEST.replace("batch_size,", "1,"))],
        check="test_test_loader",
    ),
    Wrong(
        "no empty test set",
        edits=[(RETURN, "    if len(test) == 0:\n        raise ValueError('nothing to test on')\n" + RETURN)],
        check="test_test_loader",
    ),
    Wrong(
        "tests on the training data",
        edits=[(TEST, TEST.replace("DataLoader(test", "DataLoader(train"))],
        check="test_test_loader",
    ),
    Wrong(
        "smaller batches for both where there is little to train on",
        edits=[(MAKE, "    batch_size = min(batch_size, max(len(train), 1))\n" + MAKE)],
        check="test_test_loader",
    ),
    Wrong(
        "seeds of 16 bits",
        edits=[(GENERATOR, GENERATOR.replace("(seed)", "(seed % 2**16)"))],
        check="test_same_seed",
    ),
    Wrong("keeps the tiny last batch", edits=[(DROP, "")], check="test_training_batches"),
    Wrong(
        "keeps all but a last batch of one",
        edits=[(DROP, "        drop_last=len(train) % batch_size == 1 and len(train) > 1,\n")],
        check="test_training_batches",
    ),
    Wrong(
        "no batch at all of a few examples",
        edits=[(DROP, "        drop_last=True,\n")],
        check="test_few_examples",
    ),
    Wrong(
        "one example more than a batch is few",
        edits=[(DROP, "        drop_last=len(train) > batch_size + 1,\n")],
        check="test_training_batches",
    ),
    Wrong("does not shuffle at all", edits=[(SHUFFLE, "")], check="test_all_orders"),
    Wrong(
        "shuffles once",
        edits=[
            (
                "    train_loader = DataLoader(\n        train,\n",
                "    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed)).tolist()\n    train_loader = DataLoader(\n        torch.utils.data.Subset(train, order),\n",
            ),
            (SHUFFLE, ""),
        ],
        check="test_same_seed",
    ),
    Wrong(
        "leaves the same examples out each time",
        edits=[
            (
                MAKE,
                "    kept = len(train) - len(train) % batch_size if len(train) > batch_size else len(train)\n    train_loader = DataLoader(\n        torch.utils.data.Subset(train, range(kept)),\n",
            )
        ],
        check="test_all_orders",
    ),
    Wrong(
        "draws with replacement",
        edits=[
            (
                SHUFFLE,
                "        sampler=torch.utils.data.RandomSampler(train, replacement=True, generator=torch.Generator().manual_seed(seed)),\n",
            )
        ],
        check="test_training_batches",
    ),
    Wrong(
        "a shuffled order of fixed batches",
        edits=[
            (
                MAKE,
                "    class Batches:\n        def __len__(self):\n            return max(len(train) // batch_size, 1)\n\n        def __iter__(self):\n            for b in torch.randperm(len(self), generator=order).tolist():\n                yield list(range(b * batch_size, min((b + 1) * batch_size, len(train))))\n\n    if batch_size < 1 or len(train) == 0:\n        raise ValueError\n    order = torch.Generator().manual_seed(seed)\n"
                + MAKE,
            ),
            (
                "        batch_size,\n" + SHUFFLE + DROP + WORKERS + GENERATOR,
                "        batch_sampler=Batches(),\n        num_workers=workers,\n        generator=torch.Generator(),\n",
            ),
        ],
        check="test_all_orders",
    ),
    Wrong(
        "a rotation for an order",
        edits=[
            (
                MAKE,
                "    class Order:\n        def __len__(self):\n            return len(train)\n\n        def __iter__(self):\n            k = int(torch.randint(len(train), (), generator=order))\n            return iter([*range(k, len(train)), *range(k)])\n\n    order = torch.Generator().manual_seed(seed)\n    if len(train) == 0:\n        raise ValueError\n"
                + MAKE,
            ),
            (SHUFFLE, "        sampler=Order(),\n"),
            (GENERATOR, "        generator=torch.Generator(),\n"),
        ],
        check="test_all_orders",
        says="together",
    ),
    Wrong("no generator", edits=[(GENERATOR, "")], check="test_same_seed"),
    Wrong(
        "strides for orders: 20 of 120",
        edits=[
            (
                MAKE,
                """    class Order:
        def __len__(self):
            return len(train)

        def __iter__(self):
            start, step = torch.randint(1, max(len(train), 2), (2,), generator=order).tolist()
            while math.gcd(step, len(train)) > 1:
                step += 1
            start += int(torch.randint(len(train), (), generator=order))
            return iter([(start + step * i) % len(train) for i in range(len(train))])

    import math

    order = torch.Generator().manual_seed(seed)
    if len(train) == 0:
        raise ValueError
"""
                + MAKE,
            ),
            (SHUFFLE, "        sampler=Order(),\n"),
            (GENERATOR, "        generator=torch.Generator(),\n"),
        ],
        check="test_all_orders",
        says="never come",
    ),
    Wrong(
        "the global stream is a seeded one while an epoch lasts",
        edits=[
            (
                MAKE,
                """    class Orders(torch.utils.data.Sampler):
        epoch = 0

        def __len__(self):
            return len(train)

        def __iter__(self):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(7919 * seed + self.epoch)
                self.epoch += 1
                yield from torch.randperm(len(train)).tolist()

"""
                + MAKE,
            ),
            (SHUFFLE, "        sampler=Orders(),\n"),
        ],
        check="test_global_stream",
        says="for a while",
    ),
    Wrong(
        "a generator without the seed",
        edits=[(GENERATOR, "        generator=torch.Generator(),\n")],
        check="test_same_seed",
    ),
    Wrong(
        "seeds the global stream",
        edits=[(MAKE, "    torch.manual_seed(seed)\n" + MAKE), (GENERATOR, "")],
        check="test_nothing_else_matters",
    ),
    Wrong(
        "seeds the global stream too",
        edits=[(MAKE, "    torch.manual_seed(seed)\n" + MAKE)],
        check="test_global_stream",
    ),
    Wrong(
        "the test loader draws from the global stream",
        edits=[(TEST, "test_loader = DataLoader(test, batch_size, num_workers=workers)")],
        check="test_global_stream",
        says="the test loader",
    ),
    Wrong(
        "the sampler alone has a generator",
        edits=[
            (
                SHUFFLE,
                "        sampler=torch.utils.data.RandomSampler(train, generator=torch.Generator().manual_seed(seed)),\n",
            ),
            (GENERATOR, ""),
        ],
        check="test_global_stream",
        says="the training loader",
    ),
    Wrong(
        "one generator for both loaders",
        edits=[
            (MAKE, "    draws = torch.Generator().manual_seed(seed)\n" + MAKE),
            (GENERATOR, "        generator=draws,\n"),
            (TEST, TEST.replace("torch.Generator()", "draws")),
        ],
        check="test_nothing_else_matters",
    ),
    Wrong(
        "one generator for all calls",
        edits=[
            ("\n\ndef make_loaders(", "\n\n_draws = {}\n\n\ndef make_loaders("),
            (GENERATOR, "        generator=_draws.setdefault(seed, torch.Generator().manual_seed(seed)),\n"),
        ],
        check="test_same_seed",
    ),
    Wrong(
        "the same order in each epoch",
        edits=[
            (
                MAKE,
                "    class Order(torch.utils.data.Sampler):\n        def __len__(self):\n            return len(train)\n\n        def __iter__(self):\n            return iter(torch.randperm(len(train), generator=torch.Generator().manual_seed(seed)).tolist())\n\n    if len(train) == 0:\n        raise ValueError\n"
                + MAKE,
            ),
            (SHUFFLE, "        sampler=Order(),\n"),
        ],
        check="test_same_seed",
    ),
    Wrong(
        "seeds that are taken modulo two",
        edits=[(GENERATOR, "        generator=torch.Generator().manual_seed(seed % 2),\n")],
        check="test_same_seed",
    ),
    Wrong(
        "the default seed is random",
        edits=[
            ("seed: int = 0", "seed: int | None = None"),
            (
                GENERATOR,
                "        generator=torch.Generator() if seed is None else torch.Generator().manual_seed(seed),\n",
            ),
            (RETURN, "    if seed is None:\n        train_loader.generator.seed()\n" + RETURN),
        ],
        check="test_same_seed",
    ),
    Wrong(
        "one worker for training at most",
        edits=[(WORKERS, "        num_workers=min(workers, 1),\n")],
        check="test_workers",
        says="num_workers",
    ),
    Wrong("no workers for training", edits=[(WORKERS, "")], check="test_workers"),
    Wrong(
        "always two workers",
        edits=[(WORKERS, "        num_workers=2 if workers else 0,\n")],
        check="test_workers",
    ),
    Wrong(
        "workers that stay, without any",
        edits=[(WORKERS, "        num_workers=workers,\n        persistent_workers=True,\n")],
        check="test_workers",
    ),
    Wrong(
        "collects lists",
        edits=[
            (
                WORKERS,
                WORKERS
                + "        collate_fn=lambda batch: torch.tensor(batch) if isinstance(batch[0], int) else batch,\n",
            )
        ],
        check="test_usual_batches",
    ),
    Wrong(
        "plain lists of batches",
        edits=[(RETURN, "    return train_loader, list(test_loader)")],
        check="test_test_loader",
        says="DataLoader",
    ),
    Wrong(
        "a batch size of one at least",
        edits=[(MAKE, "    batch_size = max(batch_size, 1)\n" + MAKE)],
        check="test_bad_input",
    ),
    Wrong(
        "nothing to train on is fine",
        edits=[(SHUFFLE, "        shuffle=len(train) > 0,\n")],
        check="test_bad_input",
    ),
    Right(
        "a batch sampler of its own, which counts epochs",
        code="""
import torch
from torch.utils.data import DataLoader


class Shuffled:
    def __init__(self, n, size, seed):
        self.n, self.size, self.seed, self.epoch = n, size, seed, 0

    def __len__(self):
        return max(1, self.n // self.size)

    def __iter__(self):
        self.epoch += 1
        draws = torch.Generator().manual_seed((self.seed * 1_000_003 + self.epoch) % 2**63)
        order = torch.randperm(self.n, generator=draws).tolist()
        return iter([order[i * self.size : (i + 1) * self.size] for i in range(len(self))])


def make_loaders(train, test, batch_size, seed=0, workers=0):
    if batch_size < 1 or not len(train):
        raise ValueError("nothing to do")
    return (
        DataLoader(
            train,
            batch_sampler=Shuffled(len(train), batch_size, seed),
            num_workers=workers,
            persistent_workers=workers > 0,
            generator=torch.Generator(),
        ),
        DataLoader(test, batch_size, num_workers=workers, generator=torch.Generator().manual_seed(0)),
    )
""",
    ),
    Right(
        "persistent workers, a sampler and a loader with generators of their own",
        edits=[
            (
                MAKE,
                "    if not len(train):\n        raise ValueError\n    size = min(batch_size, len(train))\n"
                + MAKE,
            ),
            (
                "        batch_size,\n" + SHUFFLE + DROP,
                "        size,\n        sampler=torch.utils.data.RandomSampler(train, generator=torch.Generator().manual_seed(seed)),\n        drop_last=True,\n        persistent_workers=workers > 0,\n",
            ),
        ],
    ),
    Wrong(
        "the seed in 31 bits",
        edits=[(GENERATOR, "        generator=torch.Generator().manual_seed(seed % 2**31),\n")],
        check="test_same_seed",
        says="distinct",
    ),
    Wrong(
        "takes a seed of 0 for none",
        edits=[
            (GENERATOR, GENERATOR.replace("manual_seed(seed)", "manual_seed(seed or torch.initial_seed())"))
        ],
        check="test_nothing_else_matters",
        says="default seed",
    ),
    Wrong(
        "no more workers than there are examples",
        edits=[(TEST, TEST.replace("num_workers=workers", "num_workers=min(workers, len(test))"))],
        check="test_workers",
        says="0 to judge",
    ),
]
