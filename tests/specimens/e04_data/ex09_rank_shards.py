"""Answers to rank_shards that people write."""

from grader.authoring.specimen import Right, Works, Wrong

CHECKS = """        if length < 0:
            raise ValueError(f"length must be 0 or more, not {length}")
        if not 0 <= rank < ranks:
            raise ValueError(f"rank must be from 0 to {ranks - 1}, not {rank}")
"""
LEN = "        return self.length // self.ranks if self.drop_last else -(-self.length // self.ranks)\n"
ORDER = "        order = list(range(self.length))\n"
GENERATOR = "            generator = torch.Generator().manual_seed(self.seed + self.epoch)\n"
PERM = "            order = torch.randperm(self.length, generator=generator).tolist()\n"
TOTAL = "        total = len(self) * self.ranks\n"
COMMENT = "        # A place past the end is filled with the beginning; below total, so nothing is read for length 0.\n"
RETURN = (
    "        return iter([order[place % self.length] for place in range(self.rank, total, self.ranks)])\n"
)
SET = "        self.epoch = epoch\n"
FILLED = """        if self.drop_last:
            order = order[:total]
        else:
            order += order[: total - len(order)]
        return iter(order[self.rank : total : self.ranks])
"""

SPECIMENS = [
    Wrong(
        "nothing is filled up",
        edits=[(RETURN, "        return iter(order[self.rank :: self.ranks])\n")],
        rung="job",
        check="test_values",
        says="nothing is filled up",
    ),
    Wrong(
        "blocks",
        edits=[
            (
                RETURN,
                "        each = len(self)\n        order = order + order\n"
                "        return iter(order[self.rank * each : (self.rank + 1) * each])\n",
            )
        ],
        rung="job",
        check="test_values",
        says="takes a block",
    ),
    Wrong(
        "each rank has an order of its own",
        edits=[(GENERATOR, GENERATOR.replace("self.epoch)", "self.epoch + self.rank)"))],
        rung="job",
        check="test_values",
        says="a seed of its own",
    ),
    Wrong(
        "the epoch ignored",
        edits=[(GENERATOR, GENERATOR.replace(" + self.epoch", ""))],
        rung="job",
        check="test_values",
        says="the epoch has no say",
    ),
    Wrong(
        "drop_last ignored",
        edits=[(LEN, "        return -(-self.length // self.ranks)\n")],
        rung="job",
        check="test_values",
        says="drop_last is ignored",
    ),
    Wrong(
        "fills up, then shuffles",
        edits=[
            (TOTAL, ""),
            (
                ORDER,
                "        total = len(self) * self.ranks\n        order = [i % self.length for i in range(total)]\n",
            ),
            (
                PERM,
                "            order = [order[i] for i in torch.randperm(total, generator=generator).tolist()]\n",
            ),
            (RETURN, "        return iter(order[self.rank :: self.ranks])\n"),
        ],
        rung="job",
        check="test_values",
        says="filled up before it is shuffled",
    ),
    Wrong(
        "Python's shuffle",
        edits=[
            ("import torch\n", "import random\n\nimport torch\n"),
            (PERM, "            random.Random(self.seed + self.epoch).shuffle(order)\n"),
        ],
        rung="job",
        check="test_shuffled",
    ),
    Wrong(
        "the length of the data set",
        edits=[
            (LEN, "        return self.length\n"),
            (TOTAL, TOTAL.replace("len(self)", "-(-self.length // self.ranks)")),
        ],
        rung="job",
        check="test_length",
        says="not the number of indices",
    ),
    Wrong(
        "a generator that is kept and goes on",
        edits=[
            ("        self.epoch = 0\n", "        self.generator = torch.Generator().manual_seed(seed)\n"),
            (GENERATOR, ""),
            (PERM, PERM.replace("=generator", "=self.generator")),
            (SET, "        self.generator.manual_seed(self.seed + epoch)\n"),
        ],
        rung="job",
        check="test_epochs_come_back",
        says="again",
    ),
    Wrong(
        "a subclass of DistributedSampler",
        code="""from torch.utils.data import DistributedSampler


class ShardSampler(DistributedSampler):
    def __init__(self, length, ranks, rank, *, shuffle=True, seed=0, drop_last=False):
        if length < 0 or not 0 <= rank < ranks:
            raise ValueError("no such rank")
        super().__init__(range(length), ranks, rank, shuffle, seed, drop_last)
""",
        rung="job",
        check="test_by_hand",
        says="ruled out",
    ),
    Wrong(
        "filled up once only",
        edits=[(COMMENT + RETURN, FILLED)],
        rung="fine",
        check="test_fewer_examples_than_ranks",
    ),
    Wrong(
        "one iterator for all",
        edits=[
            (RETURN, RETURN.replace("return iter(", "self.at = iter(") + "        return self\n"),
            (
                "    def set_epoch",
                "    def __next__(self):\n        return next(self.at)\n\n    def set_epoch",
            ),
        ],
        rung="fine",
        check="test_iterators",
    ),
    Wrong(
        "tensors",
        edits=[(PERM, PERM.replace(".tolist()", ""))],
        rung="fine",
        check="test_plain_ints",
    ),
    Wrong("no look at the numbers", edits=[(CHECKS, "")], rung="fine", check="test_bad_numbers"),
    Works(
        "seeds torch, and fills up with what a slice gives",
        edits=[
            (CHECKS, ""),
            (GENERATOR, "            torch.manual_seed(self.seed + self.epoch)\n"),
            (PERM, "            order = torch.randperm(self.length).tolist()\n"),
            (COMMENT + RETURN, FILLED),
        ],
    ),
    Works(
        "tensors all the way",
        edits=[
            (CHECKS, ""),
            (ORDER, "        order = torch.arange(self.length)\n"),
            (PERM, PERM.replace(".tolist()", "")),
            (
                COMMENT + RETURN,
                "        if not self.drop_last:\n"
                "            order = torch.cat([order, order[: total - len(order)]])\n"
                "        yield from order[self.rank : total : self.ranks]\n",
            ),
        ],
    ),
    Right(
        "as in torch",
        edits=[
            (
                COMMENT + RETURN,
                """        if not self.drop_last:
            lacking = total - len(order)
            order += (order * (-(-lacking // len(order)) if order else 0))[:lacking]
        else:
            order = order[:total]
        mine = order[self.rank : total : self.ranks]
        assert len(mine) == len(self)
        return iter(mine)
""",
            )
        ],
    ),
    Right(
        "a tensor, repeated and cut, and a count from the constructor",
        edits=[
            (
                "        self.epoch = 0\n",
                "        self.epoch = 0\n        self.count = (length if drop_last else length + ranks - 1) // ranks\n",
            ),
            (LEN, "        return self.count\n"),
            (
                COMMENT + RETURN,
                "        places = torch.arange(total)[self.rank :: self.ranks] % max(self.length, 1)\n"
                "        return iter(torch.tensor(order, dtype=torch.int64)[places].tolist())\n",
            ),
        ],
    ),
]
