"""Answers to sharded_iterable that people write."""

from grader.authoring.specimen import Right, Wrong

WORKER = "        worker = get_worker_info()  # None where no worker runs this; in a worker, its own number\n"
NUMBER = "        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)\n"
READER = "        reader = self.rank * workers + number\n"
LOOP = "        for shard in self.shards[reader :: self.world_size * workers]:\n"
YIELD = "            yield from self.read(shard)"
SHARDS = "        self.shards = shards\n"
GUARD = """        if not 0 <= rank < world_size:
            raise ValueError(f"there is no rank {rank} of {world_size}")
"""


def instead(body: str) -> list[tuple[str, str]]:
    """Another way to share the shards."""
    return [(READER, ""), (LOOP + YIELD, body.strip("\n"))]


SPECIMENS = [
    Wrong(
        "opens every shard, and passes over those of others",
        edits=instead("""
        for place, examples in enumerate(map(self.read, self.shards)):
            if place % (self.world_size * workers) == self.rank * workers + number:
                yield from examples
"""),
        check="test_nothing_ahead",
        says="two ranks",
    ),
    Wrong(
        "unpacks a shard that is a tuple",
        edits=[
            (
                YIELD,
                YIELD.replace(
                    "self.read(shard)",
                    "(self.read(*shard) if isinstance(shard, tuple) else self.read(shard))",
                ),
            )
        ],
        check="test_any_shards",
    ),
    Wrong(
        "finds a shard's number by its name",
        edits=instead("""
        for shard in self.shards:
            if self.shards.index(shard) % (self.world_size * workers) == self.rank * workers + number:
                yield from self.read(shard)
"""),
        check="test_any_shards",
        says="each of 2 ranks",
    ),
    Wrong(
        "calls read for all shards first",
        edits=instead("""
        mine = self.shards[self.rank * workers + number :: self.world_size * workers]
        for examples in [self.read(shard) for shard in mine]:
            yield from examples
"""),
        check="test_nothing_ahead",
        says="when it is called",
    ),
    Wrong(
        "every worker yields everything",
        edits=[(NUMBER, "        workers, number = 1, 0\n")],
        check="test_exactly_once",
        says="2 times",
    ),
    Wrong(
        "shares among workers only",
        edits=[
            (READER, "        reader = number\n"),
            (LOOP, LOOP.replace("self.world_size * workers", "workers")),
        ],
        check="test_exactly_once",
    ),
    Wrong(
        "shares among workers only, as the start among ranks only",
        edits=[
            (
                LOOP,
                "        for shard in self.shards[self.rank :: self.world_size] if worker is None else self.shards[number::workers]:\n",
            )
        ],
        check="test_exactly_once",
    ),
    Wrong(
        "counts readers, but steps by ranks",
        edits=[(LOOP, LOOP.replace("self.world_size * workers", "self.world_size"))],
        check="test_exactly_once",
    ),
    Wrong(
        "adds rank and worker",
        edits=[(READER, "        reader = self.rank + number\n")],
        check="test_exactly_once",
    ),
    Wrong(
        "numbers readers by ranks",
        edits=[(READER, "        reader = self.rank * self.world_size + number\n")],
        check="test_exactly_once",
    ),
    Wrong(
        "asks for the worker in __init__",
        edits=[
            (SHARDS, SHARDS + "        self.worker = get_worker_info()\n"),
            (WORKER, "        worker = self.worker\n"),
        ],
        check="test_exactly_once",
    ),
    Wrong(
        "no epoch without workers",
        edits=[(NUMBER, "        workers, number = worker.num_workers, worker.id\n")],
        check="test_exactly_once",
    ),
    Wrong(
        "the first worker reads all",
        edits=[
            (READER, "        if number:\n            return\n        reader = self.rank\n"),
            (LOOP, LOOP.replace("self.world_size * workers", "self.world_size")),
        ],
        check="test_exactly_once",
        says="not even",
    ),
    Wrong(
        "chunks without the tail",
        edits=instead(
            """
        readers = self.world_size * workers
        size = len(self.shards) // readers
        reader = self.rank * workers + number
        for shard in self.shards[reader * size : (reader + 1) * size]:
            yield from self.read(shard)
"""
        ),
        check="test_exactly_once",
    ),
    Wrong(
        "the last reader gets the tail",
        edits=instead(
            """
        readers = self.world_size * workers
        size = len(self.shards) // readers
        reader = self.rank * workers + number
        end = (reader + 1) * size if reader < readers - 1 else len(self.shards)
        for shard in self.shards[reader * size : end]:
            yield from self.read(shard)
"""
        ),
        check="test_exactly_once",
        says="not even",
    ),
    Wrong(
        "chunks rounded up",
        edits=instead(
            """
        readers = self.world_size * workers
        size = -(-len(self.shards) // readers)
        reader = self.rank * workers + number
        for shard in self.shards[reader * size : (reader + 1) * size]:
            yield from self.read(shard)
"""
        ),
        check="test_exactly_once",
        says="not even",
    ),
    Wrong(
        "the head for every reader if there are few",
        edits=instead(
            """
        readers = self.world_size * workers
        for shard in self.shards[self.rank * workers + number :: readers] or self.shards[:1]:
            yield from self.read(shard)
"""
        ),
        check="test_exactly_once",
    ),
    Wrong(
        "an error for fewer shards than readers",
        edits=[
            (
                READER,
                READER
                + "        if len(self.shards) < self.world_size * workers:\n            raise ValueError('too few shards')\n",
            )
        ],
        check="test_exactly_once",
    ),
    Wrong(
        "padded, so that all have equally many",
        edits=instead(
            """
        readers = self.world_size * workers
        shards = list(self.shards)
        shards += shards[: -len(shards) % readers]
        for shard in shards[self.rank * workers + number :: readers]:
            yield from self.read(shard)
"""
        ),
        check="test_exactly_once",
    ),
    Wrong(
        "every reader opens all shards and skips examples",
        edits=instead(
            """
        from itertools import chain, islice

        everything = chain.from_iterable(map(self.read, self.shards))
        yield from islice(everything, self.rank * workers + number, None, self.world_size * workers)
"""
        ),
        check="test_exactly_once",
    ),
    Wrong(
        "opens all shards and reads its own",
        edits=instead(
            """
        readers = self.world_size * workers
        for place, shard in enumerate(self.shards):
            examples = iter(self.read(shard))
            if place % readers == self.rank * workers + number:
                yield from examples
            else:
                next(examples, None)
"""
        ),
        check="test_exactly_once",
        says="opened",
    ),
    Wrong(
        "goes by the hash of a shard",
        edits=instead(
            """
        for shard in self.shards:
            if hash(str(shard)) % (self.world_size * workers) == self.rank * workers + number:
                yield from self.read(shard)
"""
        ),
        check="test_exactly_once",
        says="not even",
    ),
    Wrong(
        "goes by the value of a shard",
        edits=instead(
            """
        mine = set(self.shards[self.rank * workers + number :: self.world_size * workers])
        for shard in self.shards:
            if shard in mine:
                yield from self.read(shard)
"""
        ),
        check="test_any_shards",
    ),
    Wrong(
        "each shard once, by its name",
        edits=[(LOOP, LOOP.replace("self.shards[", "list(dict.fromkeys(self.shards))["))],
        check="test_any_shards",
    ),
    Wrong(
        "the last shard first",
        edits=[
            (
                LOOP,
                LOOP.replace(
                    "self.shards[reader :: self.world_size * workers]",
                    "reversed(self.shards[reader :: self.world_size * workers])",
                ),
            )
        ],
        check="test_one_reader",
    ),
    Wrong(
        "takes turns among its shards",
        edits=instead(
            """
        from itertools import chain, zip_longest

        gap = object()
        mine = self.shards[self.rank * workers + number :: self.world_size * workers]
        turns = zip_longest(*map(self.read, mine), fillvalue=gap)
        yield from (x for x in chain.from_iterable(turns) if x is not gap)
"""
        ),
        check="test_one_reader",
    ),
    Wrong(
        "shuffles",
        edits=[
            (
                LOOP,
                "        import random\n\n        mine = list(self.shards[reader :: self.world_size * workers])\n        random.shuffle(mine)\n        for shard in mine:\n",
            )
        ],
        check="test_one_reader",
    ),
    Wrong(
        "writes its share over all shards",
        edits=[
            (
                LOOP,
                "        self.shards = self.shards[reader :: self.world_size * workers]\n        for shard in self.shards:\n",
            )
        ],
        check="test_epochs",
    ),
    Wrong(
        "takes shards away from the list",
        edits=[
            (SHARDS, "        self.shards = list(shards)\n"),
            (
                LOOP,
                "        mine = self.shards[reader :: self.world_size * workers]\n        self.shards.clear()\n        for shard in mine:\n",
            ),
        ],
        check="test_one_reader",
    ),
    Wrong(
        "keeps the share of its first epoch",
        edits=[
            (
                LOOP,
                "        if not hasattr(self, 'mine'):\n            self.mine = self.shards[reader :: self.world_size * workers]\n        for shard in self.mine:\n",
            ),
        ],
        check="test_any_shards",
    ),
    Wrong(
        "keeps the number of workers",
        edits=[
            (
                READER,
                "        if not hasattr(self, 'readers'):\n            self.readers = workers\n        workers = self.readers\n"
                + READER,
            )
        ],
        check="test_any_shards",
    ),
    Wrong(
        "one position for all iterators",
        edits=instead(
            """
        self.place = self.rank * workers + number
        while self.place < len(self.shards):
            yield from self.read(self.shards[self.place])
            self.place += self.world_size * workers
"""
        ),
        check="test_at_once",
    ),
    Wrong(
        "is its own iterator",
        edits=[
            (
                LOOP + YIELD,
                "        mine = self.shards[reader :: self.world_size * workers]\n        self.stream = (x for shard in mine for x in self.read(shard))\n        return self\n\n    def __next__(self):\n        return next(self.stream)",
            )
        ],
        check="test_at_once",
    ),
    Wrong(
        "one stream for all iterators",
        edits=instead(
            """
        if getattr(self, "stream", None) is None:
            mine = self.shards[self.rank * workers + number :: self.world_size * workers]
            self.stream = (x for shard in mine for x in self.read(shard))
        yield from self.stream
        self.stream = None
"""
        ),
        check="test_at_once",
    ),
    Wrong(
        "leaves out None",
        edits=[(YIELD, "            yield from (x for x in self.read(shard) if x is not None)")],
        check="test_examples_as_they_are",
    ),
    Wrong(
        "leaves out what is false",
        edits=[(YIELD, "            yield from filter(None, self.read(shard))")],
        check="test_examples_as_they_are",
    ),
    Wrong(
        "stops at an empty shard",
        edits=[
            (
                YIELD,
                "            examples = list(self.read(shard))\n            if not examples:\n                return\n            yield from examples",
            )
        ],
        check="test_examples_as_they_are",
    ),
    Wrong(
        "next on what read returns",
        edits=[
            (
                YIELD,
                "            examples = self.read(shard)\n            while True:\n                try:\n                    yield next(examples)\n                except StopIteration:\n                    break",
            )
        ],
        check="test_examples_as_they_are",
    ),
    Wrong(
        "tells the shard as well",
        edits=[(YIELD, "            yield from ((shard, x) for x in self.read(shard))")],
        check="test_one_reader",
    ),
    Wrong(
        "yields iterators",
        edits=[(YIELD, "            yield self.read(shard)")],
        check="test_one_reader",
    ),
    Wrong(
        "reads a shard as a whole",
        edits=[(YIELD, "            yield from list(self.read(shard))")],
        check="test_nothing_ahead",
        says="ahead",
    ),
    Wrong(
        "opens its shards at once",
        edits=[
            (
                LOOP + YIELD,
                "        for examples in [iter(list(self.read(shard))) if shard != 2 else self.read(shard) for shard in self.shards[reader :: self.world_size * workers]]:\n            yield from examples",
            )
        ],
        check="test_nothing_ahead",
    ),
    Wrong(
        "one example ahead",
        edits=[
            (
                LOOP + YIELD,
                "        mine = self.shards[reader :: self.world_size * workers]\n        stream = (x for shard in mine for x in self.read(shard))\n        for ahead in stream:\n            break\n        else:\n            return\n        for x in stream:\n            yield ahead\n            ahead = x\n        yield ahead",
            )
        ],
        check="test_nothing_ahead",
    ),
    Wrong(
        "goes on after an error",
        edits=[
            (
                YIELD,
                "            try:\n                yield from self.read(shard)\n            except OSError:\n                continue",
            )
        ],
        check="test_errors",
    ),
    Wrong(
        "ends at an error",
        edits=[
            (
                YIELD,
                "            try:\n                yield from self.read(shard)\n            except Exception:\n                return",
            )
        ],
        check="test_errors",
    ),
    Wrong(
        "another error",
        edits=[
            (
                YIELD,
                "            try:\n                yield from self.read(shard)\n            except Exception as error:\n                raise RuntimeError(f'cannot read {shard}: {error}') from error",
            )
        ],
        check="test_errors",
    ),
    Wrong(
        "holds a function that cannot be pickled",
        edits=[
            (SHARDS, SHARDS + "        self.share = lambda reader, readers: self.shards[reader::readers]\n"),
            (LOOP, "        for shard in self.share(reader, self.world_size * workers):\n"),
        ],
        check="test_pickled",
        says="pickled",
    ),
    Wrong(
        "holds a lock",
        edits=[(SHARDS, SHARDS + "        import threading\n\n        self.lock = threading.Lock()\n")],
        check="test_pickled",
        says="pickled",
    ),
    Wrong(
        "keeps what opens a shard outside, as it may not be pickled",
        edits=[
            ("class ShardedDataset", "_open: dict = {}\n\n\nclass ShardedDataset"),
            ("        self.read = read\n", "        self.key = len(_open)\n        _open[self.key] = read\n"),
            (YIELD, "            yield from _open[self.key](shard)"),
        ],
        check="test_spawned",
        says="KeyError",
    ),
    Wrong("any rank", edits=[(GUARD, "")], check="test_bad_rank"),
    Wrong(
        "ranks that count from one",
        edits=[(GUARD, GUARD.replace("0 <= rank < world_size", "0 <= rank <= world_size"))],
        check="test_bad_rank",
    ),
    Wrong(
        "negative ranks",
        edits=[(GUARD, GUARD.replace("not 0 <= rank < world_size", "rank >= world_size"))],
        check="test_bad_rank",
    ),
    Right(
        "ranks first, then workers, with even chunks",
        edits=instead(
            """
        mine = [self.shards[i] for i in range(len(self.shards)) if i % self.world_size == self.rank]
        size, more = divmod(len(mine), workers)
        start = number * size + min(number, more)
        for i in range(start, start + size + (number < more)):
            for example in self.read(mine[i]):
                yield example
"""
        ),
    ),
    Right(
        "a generator expression, and workers first",
        code="""
import itertools

import torch.utils.data as data


class ShardedDataset(data.IterableDataset):
    def __init__(self, shards, read, rank=0, world_size=1):
        super().__init__()
        if rank not in range(world_size):
            raise ValueError(rank)
        self._all, self._open, self._place = tuple(shards), read, (rank, world_size)

    def __iter__(self):
        rank, ranks = self._place
        info = data.get_worker_info()
        if info is not None:
            rank, ranks = rank + ranks * info.id, ranks * info.num_workers
        mine = itertools.islice(self._all, rank, None, ranks)
        return itertools.chain.from_iterable(map(self._open, mine))
""",
    ),
    Wrong(
        "opens the first shard as soon as it is iterated",
        edits=[
            (
                "        for shard in self.shards[reader :: self.world_size * workers]:\n            yield from self.read(shard)\n",
                "        mine = list(self.shards[reader :: self.world_size * workers])\n        sources = [self.read(shard) for shard in mine[:1]]\n        return (x for part in (sources, map(self.read, mine[1:])) for source in part for x in source)\n",
            )
        ],
        check="test_nothing_ahead",
    ),
    Wrong(
        "the number of shards as length",
        edits=[
            (
                YIELD,
                YIELD + "\n\n    def __len__(self) -> int:\n        return len(self.shards)",
            )
        ],
        check="test_one_reader",
        says="len",
    ),
    Wrong(
        "passes over shards that cannot be opened",
        edits=[
            (
                YIELD,
                "            try:\n                examples = self.read(shard)\n"
                "            except OSError:\n                continue\n            yield from examples",
            )
        ],
        check="test_errors",
        says="shard 2",
    ),
    Wrong(
        "passes over what is not iterable, and any TypeError of read with it",
        edits=[
            (
                YIELD,
                "            try:\n                examples = iter(self.read(shard))\n            except TypeError:\n                continue\n            yield from examples",
            )
        ],
        check="test_errors",
        says="raises TypeError for shard 2",
    ),
    Wrong(
        "asks torch.distributed who it is, where that knows",
        edits=[
            (
                "        reader = self.rank * workers + number\n",
                "        import torch.distributed as dist\n\n"
                "        if dist.is_initialized():\n"
                "            self.rank, self.world_size = dist.get_rank(), dist.get_world_size()\n"
                "        reader = self.rank * workers + number\n",
            )
        ],
        check="test_rank_is_given",
        says="torch.distributed says",
    ),
]
