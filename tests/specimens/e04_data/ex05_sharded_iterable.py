"""Answers to sharded_iterable that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BODY = """        worker = get_worker_info()  # None where no worker runs this; in a worker, its own number
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        reader = self.rank * workers + number
        for shard in self.shards[reader :: self.world_size * workers]:
            yield from self.read(shard)
"""
NUMBER = "        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)\n"
READER = "        reader = self.rank * workers + number\n"
LOOP = "        for shard in self.shards[reader :: self.world_size * workers]:\n"
YIELD = "            yield from self.read(shard)\n"
SIZE = "        self.world_size = world_size\n"
CHUNKS = """        worker = get_worker_info()
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        reader, readers = self.rank * workers + number, self.world_size * workers
        each = {each}
        for shard in self.shards[reader * each : (reader + 1) * each]:
            yield from self.read(shard)
"""

SPECIMENS = [
    Wrong(
        "shares among workers only",
        edits=[(READER, "        reader = number\n"), (LOOP, LOOP.replace("self.world_size * ", ""))],
        rung="job",
        check="test_two_ranks",
        says="the examples of both ranks",
    ),
    Wrong(
        "adds rank and worker",
        edits=[(READER, "        reader = self.rank + number\n")],
        rung="job",
        check="test_exactly_once",
        says="some shards have no reader",
    ),
    Wrong(
        "asks for the worker in __init__",
        edits=[
            (SIZE, SIZE + "        self.worker = get_worker_info()\n"),
            ("worker = get_worker_info()  #", "worker = self.worker  #"),
        ],
        rung="job",
        check="test_two_workers",
        says="each worker runs all of __iter__",
    ),
    Wrong(
        "no epoch without workers",
        edits=[(NUMBER, "        workers, number = worker.num_workers, worker.id\n")],
        rung="job",
        check="test_one_reader",
        says="AttributeError",
    ),
    Wrong(
        "chunks without the tail",
        edits=[(BODY, CHUNKS.replace("{each}", "len(self.shards) // readers"))],
        rung="job",
        check="test_exactly_once",
        says="0 times",
    ),
    Wrong(
        "every reader opens all shards and skips examples",
        edits=[
            (
                BODY,
                """        worker = get_worker_info()
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        reader, readers = self.rank * workers + number, self.world_size * workers
        for place, shard in enumerate(self.shards):
            for example in self.read(shard):
                if place % readers == reader:
                    yield example
""",
            )
        ],
        rung="job",
        check="test_opened_once",
        says="every reader opens all shards",
    ),
    Wrong(
        "writes its share over all shards",
        edits=[
            (
                LOOP,
                "        self.shards = self.shards[reader :: self.world_size * workers]\n"
                "        for shard in self.shards:\n",
            )
        ],
        rung="job",
        check="test_epochs",
        says="second epoch",
    ),
    Wrong(
        "yields iterators",
        edits=[(YIELD, "            yield self.read(shard)\n")],
        rung="job",
        check="test_one_reader",
    ),
    Wrong(
        "the last reader gets the tail",
        edits=[
            (
                BODY,
                CHUNKS.replace("{each}", "len(self.shards) // readers").replace(
                    "(reader + 1) * each]", "(reader + 1) * each if reader < readers - 1 else None]"
                ),
            )
        ],
        rung="fine",
        check="test_even",
        says="not even",
    ),
    Wrong(
        "goes by the place of a shard's name",
        edits=[
            (
                LOOP + YIELD,
                "        for shard in dict.fromkeys(self.shards):\n"
                "            if self.shards.index(shard) % (self.world_size * workers) == reader:\n"
                "                yield from self.read(shard)\n",
            )
        ],
        rung="fine",
        check="test_listed_twice",
    ),
    Wrong(
        "one position for all iterators",
        edits=[
            (
                LOOP + YIELD,
                "        self.at = reader\n"
                "        while self.at < len(self.shards):\n"
                "            yield from self.read(self.shards[self.at])\n"
                "            self.at += self.world_size * workers\n",
            )
        ],
        rung="fine",
        check="test_at_once",
    ),
    Wrong(
        "leaves out None",
        edits=[(YIELD, "            yield from (x for x in self.read(shard) if x is not None)\n")],
        rung="fine",
        check="test_examples_as_they_are",
    ),
    Wrong(
        "reads a shard as a whole",
        edits=[(YIELD, "            yield from list(self.read(shard))\n")],
        rung="fine",
        check="test_nothing_ahead",
        says="read ahead",
    ),
    Works(
        "chunks rounded up, as in PyTorch's documentation",
        edits=[
            (BODY, CHUNKS.replace("{each}", "math.ceil(len(self.shards) / readers)")),
            ("from collections", "import math\nfrom collections"),
        ],
    ),
    Works(
        "a list of all examples of its shards",
        edits=[
            (
                LOOP + YIELD,
                "        examples = []\n" + LOOP + "            examples.extend(self.read(shard))\n"
                "        return iter(examples)\n",
            )
        ],
    ),
    Right(
        "split by rank, then by worker, as in WebDataset",
        edits=[
            (
                BODY,
                """        shards = self.shards[self.rank :: self.world_size]
        worker = get_worker_info()
        if worker is not None:
            shards = shards[worker.id :: worker.num_workers]
        for shard in shards:
            yield from self.read(shard)
""",
            )
        ],
    ),
    Right(
        "counts the shards, with islice",
        edits=[
            ("from collections", "import itertools\nfrom collections"),
            (
                LOOP,
                "        for shard in itertools.islice(self.shards, reader, None, self.world_size * workers):\n",
            ),
        ],
    ),
]
