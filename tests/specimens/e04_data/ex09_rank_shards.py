"""Answers to rank_shards that people write."""

from grader.authoring.specimen import Right, Wrong

LENGTH = "        if length < 0:\n"
RANK = "        if not 0 <= rank < ranks:\n"
EPOCH0 = "        self.epoch = 0\n"
LEN = "        return self.length // self.ranks if self.drop_last else -(-self.length // self.ranks)\n"
ORDER = "        order = list(range(self.length))\n"
GENERATOR = "            generator = torch.Generator().manual_seed(self.seed + self.epoch)\n"
PERM = "            order = torch.randperm(self.length, generator=generator).tolist()\n"
TOTAL = "        total = len(self) * self.ranks\n"
RETURN = (
    "        return iter([order[place % self.length] for place in range(self.rank, total, self.ranks)])\n"
)
COMMENT = "        # A place past the end is filled with the beginning; below total, so nothing is read for length 0.\n"
SET = "        self.epoch = epoch\n"
PADDED = "order = order + order[: total - len(order)]"

SPECIMENS = [
    Wrong(
        "seeds of 31 bits",
        edits=[(GENERATOR, GENERATOR.replace("self.seed + self.epoch", "(self.seed + self.epoch) % 2**31"))],
        check="test_shuffled",
    ),
    Wrong(
        "blocks in place of every ranks-th",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "range(self.rank, total, self.ranks)",
                    "range(self.rank * len(self), (self.rank + 1) * len(self))",
                ),
            )
        ],
        check="test_in_order",
    ),
    Wrong(
        "no filling",
        edits=[(RETURN, "        return iter(order[self.rank : total : self.ranks])\n")],
        check="test_in_order",
    ),
    Wrong(
        "filled up with the last index",
        edits=[(RETURN, RETURN.replace("place % self.length", "min(place, self.length - 1)"))],
        check="test_in_order",
    ),
    Wrong(
        "filled up from the end backwards",
        edits=[
            (
                RETURN,
                RETURN.replace("order[place % self.length]", "(order + order[::-1] * self.ranks)[place]"),
            )
        ],
        check="test_in_order",
    ),
    Wrong(
        "filled up once only",
        edits=[(RETURN, f"        {PADDED}\n        return iter(order[self.rank : total : self.ranks])\n")],
        check="test_shorter_than_the_ranks",
    ),
    Wrong(
        "filled up with small indices, not with the beginning of the order",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "order[place % self.length]",
                    "order[place] if place < self.length else place % self.length",
                ),
            )
        ],
        check="test_shuffled",
    ),
    Wrong(
        "fills up, then shuffles",
        edits=[
            (
                ORDER,
                "        total = len(self) * self.ranks\n        order = [place % self.length for place in range(total)]\n",
            ),
            (
                PERM,
                "            order = [order[i] for i in torch.randperm(total, generator=generator).tolist()]\n",
            ),
            (RETURN, RETURN.replace("place % self.length", "place")),
        ],
        check="test_shuffled",
    ),
    Wrong(
        "shuffles its own part",
        edits=[
            (
                ORDER,
                "        order = list(range(self.length))\n        total = len(self) * self.ranks\n        order = [order[place % self.length] for place in range(self.rank, total, self.ranks)]\n",
            ),
            (
                PERM,
                "            order = [order[i] for i in torch.randperm(len(order), generator=generator).tolist()]\n",
            ),
            (RETURN, "        return iter(order)\n"),
        ],
        check="test_shuffled",
    ),
    Wrong(
        "each rank has an order of its own",
        edits=[(GENERATOR, GENERATOR.replace("self.epoch)", "self.epoch + self.rank)"))],
        check="test_all_ranks_together",
    ),
    Wrong(
        "the epoch ignored", edits=[(GENERATOR, GENERATOR.replace(" + self.epoch", ""))], check="test_epochs"
    ),
    Wrong(
        "the seed ignored", edits=[(GENERATOR, GENERATOR.replace("self.seed + ", ""))], check="test_shuffled"
    ),
    Wrong(
        "seed times epoch",
        edits=[(GENERATOR, GENERATOR.replace("self.seed + self.epoch", "self.seed * (self.epoch + 1)"))],
        check="test_shuffled",
    ),
    Wrong(
        "Python's shuffle",
        edits=[
            ("import torch\n", "import random\n\nimport torch\n"),
            (PERM, "            random.Random(self.seed + self.epoch).shuffle(order)\n"),
        ],
        check="test_shuffled",
    ),
    Wrong(
        "NumPy's permutation",
        edits=[
            ("import torch\n", "import numpy as np\nimport torch\n"),
            (
                PERM,
                "            order = np.random.default_rng(self.seed + self.epoch).permutation(self.length).tolist()\n",
            ),
        ],
        check="test_shuffled",
    ),
    Wrong(
        "seeds the global stream",
        edits=[
            (GENERATOR, "            torch.manual_seed(self.seed + self.epoch)\n"),
            (PERM, PERM.replace(", generator=generator", "")),
        ],
        check="test_global_stream",
        says="global",
    ),
    Wrong(
        "draws from the global stream",
        edits=[(GENERATOR, ""), (PERM, PERM.replace(", generator=generator", ""))],
        check="test_global_stream",
    ),
    Wrong(
        "a generator that is kept",
        edits=[
            (EPOCH0, EPOCH0 + "        self.generator = torch.Generator().manual_seed(seed)\n"),
            (GENERATOR, ""),
            (PERM, PERM.replace("=generator", "=self.generator")),
            (SET, SET + "        self.generator.manual_seed(self.seed + epoch)\n"),
        ],
        check="test_epochs",
        says="again",
    ),
    Wrong(
        "every iteration is an epoch",
        edits=[(TOTAL, TOTAL + "        self.epoch += 1\n")],
        check="test_epochs",
        says="again",
    ),
    Wrong(
        "epochs only go up",
        edits=[(SET, "        self.epoch = max(self.epoch, epoch)\n")],
        check="test_epochs",
    ),
    Wrong("set_epoch does nothing", edits=[(SET, "        self.next_epoch = epoch\n")], check="test_epochs"),
    Wrong(
        "an order made once",
        edits=[
            (ORDER, "        if hasattr(self, 'kept'):\n            return iter(self.kept)\n" + ORDER),
            (
                RETURN,
                RETURN.replace("return iter(", "self.kept = (").rstrip()
                + "\n        return iter(self.kept)\n",
            ),
        ],
        check="test_epochs",
    ),
    Wrong(
        "without shuffle an epoch begins where the last one ended",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "place % self.length", "(place if self.shuffle else place + self.epoch) % self.length"
                ),
            )
        ],
        check="test_epochs",
    ),
    Wrong(
        "shuffle ignored", edits=[("        if self.shuffle:\n", "        if True:\n")], check="test_in_order"
    ),
    Wrong(
        "one iterator for all",
        edits=[
            (EPOCH0, EPOCH0 + "        self.at = None\n"),
            (
                RETURN,
                RETURN.replace("return iter(", "self.at = iter(").rstrip()
                + "\n        return self\n\n    def __next__(self):\n        return next(self.at)\n",
            ),
        ],
        check="test_iterators",
    ),
    Wrong(
        "an iterator that looks at the epoch as it goes",
        edits=[
            (
                RETURN,
                """        for place in range(self.rank, total, self.ranks):
            if self.shuffle:
                generator = torch.Generator().manual_seed(self.seed + self.epoch)
                order = torch.randperm(self.length, generator=generator).tolist()
            yield order[place % self.length]
""",
            )
        ],
        check="test_iterators",
        says="under way",
    ),
    Wrong(
        "drop_last ignored",
        edits=[(LEN, "        return -(-self.length // self.ranks)\n")],
        check="test_in_order",
    ),
    Wrong(
        "drop_last always", edits=[(LEN, "        return self.length // self.ranks\n")], check="test_in_order"
    ),
    Wrong(
        "drop_last in the length alone",
        edits=[(TOTAL, "        total = -(-self.length // self.ranks) * self.ranks\n")],
        check="test_in_order",
    ),
    Wrong(
        "at least one with drop_last",
        edits=[
            (
                LEN,
                "        return max(1, self.length // self.ranks) if self.drop_last and self.length else -(-self.length // self.ranks)\n",
            )
        ],
        check="test_in_order",
    ),
    Wrong(
        "rounds the length",
        edits=[
            (
                LEN,
                "        return self.length // self.ranks if self.drop_last else round(self.length / self.ranks)\n",
            )
        ],
        check="test_length_alone",
    ),
    Wrong(
        "the length of the data set",
        edits=[
            (LEN, "        return self.length\n"),
            (
                TOTAL,
                "        total = (self.length // self.ranks if self.drop_last else -(-self.length // self.ranks)) * self.ranks\n",
            ),
        ],
        check="test_length_alone",
    ),
    Wrong(
        "len of what is left",
        edits=[
            (
                LEN,
                "        return getattr(self, 'left', self.length // self.ranks if self.drop_last else -(-self.length // self.ranks))\n",
            ),
            (
                RETURN,
                "        for place in range(self.rank, total, self.ranks):\n            self.left = (total - place) // self.ranks\n            yield order[place % self.length]\n        del self.left\n",
            ),
        ],
        check="test_length_alone",
    ),
    Wrong(
        "fills up a length of 0",
        edits=[
            (
                LEN,
                "        return self.length // self.ranks if self.drop_last else max(1, -(-self.length // self.ranks))\n",
            ),
            (ORDER, "        order = list(range(self.length)) or [0]\n"),
            (RETURN, RETURN.replace("self.length]", "len(order)]")),
        ],
        check="test_in_order",
    ),
    Wrong(
        "tensors",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "[order[place % self.length] for", "[torch.tensor(order[place % self.length]) for"
                ),
            )
        ],
        check="test_plain_ints",
    ),
    Wrong(
        "NumPy's ints",
        edits=[
            ("import torch\n", "import numpy as np\nimport torch\n"),
            (RETURN, RETURN.replace("iter([", "iter(np.array([").replace("])\n", "], dtype=np.int64))\n")),
        ],
        check="test_plain_ints",
    ),
    Wrong(
        "epochs of the class",
        edits=[
            ("    def __init__(\n", "    shared = [0]\n\n    def __init__(\n"),
            (EPOCH0, "        self.shared[0] = 0\n"),
            (SET, "        self.shared[0] = epoch\n"),
            (GENERATOR, GENERATOR.replace("self.epoch", "self.shared[0]")),
        ],
        check="test_independent_samplers",
    ),
    Wrong("no look at the rank", edits=[(RANK, "        if ranks < 1:\n")], check="test_bad_numbers"),
    Wrong("no look at the length", edits=[(LENGTH, "        if False:\n")], check="test_bad_numbers"),
    Wrong(
        "no look at the ranks",
        edits=[(RANK, "        if rank < 0 or 0 < ranks <= rank:\n")],
        check="test_bad_numbers",
    ),
    Wrong(
        "looks when it iterates",
        edits=[
            (
                '            raise ValueError(f"rank must be from 0 to {ranks - 1}, not {rank}")\n',
                "            length = -1\n",
            ),
            (TOTAL, "        if self.length < 0:\n            raise ValueError('no such rank')\n" + TOTAL),
        ],
        check="test_bad_numbers",
    ),
    Wrong(
        "DistributedSampler itself",
        code="""from torch.utils.data import DistributedSampler


class ShardSampler:
    def __init__(self, length, ranks, rank, *, shuffle=True, seed=0, drop_last=False):
        if length < 0 or not 0 <= rank < ranks:
            raise ValueError("no such rank")
        self.inner = DistributedSampler(range(length), ranks, rank, shuffle, seed, drop_last)

    def __len__(self):
        return len(self.inner)

    def __iter__(self):
        return iter(self.inner)

    def set_epoch(self, epoch):
        self.inner.set_epoch(epoch)
""",
        check="test_by_hand",
        says="ruled out",
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
        check="test_by_hand",
        says="ruled out",
    ),
    Wrong(
        "one batch at a time",
        edits=[
            (RETURN, RETURN.replace("return iter([", "return iter([[").replace(" for place", "] for place"))
        ],
        check="test_real_workers",
    ),
    Right(
        "a tensor, repeated and cut, and a generator function",
        edits=[
            (
                ORDER + "        if self.shuffle:\n" + GENERATOR + PERM,
                "        order = torch.arange(self.length)\n        if self.shuffle:\n            g = torch.Generator()\n            g.manual_seed(self.epoch + self.seed)\n            order = torch.randperm(self.length, generator=g)\n",
            ),
            (COMMENT, ""),
            (
                RETURN,
                "        if self.length:\n            order = order.repeat(-(-total // self.length))[:total]\n        yield from order[:total].view(len(self), self.ranks)[:, self.rank].tolist()\n",
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
        "with other numbers in the constructor",
        edits=[
            (LEN, "        return self.count\n"),
            (
                EPOCH0,
                "        self.count = (length if drop_last else length + ranks - 1) // ranks\n" + EPOCH0,
            ),
            ("class ShardSampler(Sampler[int]):", "class ShardSampler:"),
            ("from torch.utils.data import Sampler\n\n", ""),
        ],
    ),
    Wrong(
        "DistributedSampler where it shuffles",
        edits=[
            (
                "    def __iter__(self) -> Iterator[int]:\n",
                "    def __iter__(self) -> Iterator[int]:\n        if self.shuffle and self.length:\n            from torch.utils.data import DistributedSampler\n\n            inner = DistributedSampler(range(self.length), self.ranks, self.rank, True, self.seed, self.drop_last)\n            inner.set_epoch(self.epoch)\n            return iter(list(inner))\n        return iter(list(self.by_hand()))\n\n    def by_hand(self):\n",
            )
        ],
        check="test_by_hand",
        says="ruled out",
    ),
    Wrong(
        "seeds the global stream, and puts it back",
        edits=[
            (
                GENERATOR,
                "            before = torch.get_rng_state()\n            torch.manual_seed(self.seed + self.epoch)\n",
            ),
            (
                PERM,
                PERM.replace(", generator=generator", "") + "            torch.set_rng_state(before)\n",
            ),
        ],
        check="test_global_stream",
        says="for a while",
    ),
]
