"""What grades paged_cache: appends, forks and frees against lists; refusals; memory, graphs, dtypes."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, held_bytes, peak_bytes
from grader.checks.devices import is_simulated

HEADS, DIM = 2, 3


class Plain:
    """What a cache holds, and how many blocks that takes: lists of rows, and a number for each block."""

    def __init__(self, num_blocks, block_size):
        self.num_blocks, self.size = num_blocks, block_size
        self.rows, self.tables, self.made = {}, {}, 0

    def users(self, block):
        return sum(block in table for table in self.tables.values())

    def append(self, seq, rows):
        mine, table = self.rows.setdefault(seq, []), self.tables.setdefault(seq, [])
        for row in rows:
            if len(mine) % self.size == 0:
                table.append(self.new())
            elif self.users(table[-1]) > 1:
                table[-1] = self.new()
            mine.append(row)

    def new(self):
        self.made += 1
        return self.made

    def fork(self, seq, child):
        self.rows[child], self.tables[child] = list(self.rows[seq]), list(self.tables[seq])

    def free(self, seq):
        del self.rows[seq], self.tables[seq]

    @property
    def num_free(self):
        return self.num_blocks - len(set().union(*self.tables.values()))


class Played:
    """A cache next to a plain one: after each call they are compared."""

    def __init__(self, answer, gen, num_blocks, block_size):
        self.cache, self.plain = (
            answer.PagedCache(num_blocks, block_size, HEADS, DIM),
            Plain(num_blocks, block_size),
        )
        self.gen, self.done = gen, []
        self.compare(f"PagedCache({num_blocks}, {block_size}, …)")

    def append(self, seq, new):
        rows = torch.randn(new, 2, HEADS, DIM, generator=self.gen)
        self.plain.append(seq, rows)
        self.cache.append(seq, rows[:, 0].clone(), rows[:, 1].clone())
        self.compare(f'append("{seq}", …) of {new}')

    def fork(self, seq, child):
        self.plain.fork(seq, child)
        self.cache.fork(seq, child)
        self.compare(f'fork("{seq}", "{child}")')

    def free(self, seq):
        self.plain.free(seq)
        self.cache.free(seq)
        self.compare(f'free("{seq}")')

    def compare(self, call):
        self.done.append(call)
        after = (
            f"after {', '.join(self.done[-4:])}"
            if len(self.done) < 5
            else f"after …, {', '.join(self.done[-3:])}"
        )
        for seq, rows in self.plain.rows.items():
            if not rows:
                continue
            for name, yours, wanted in zip(
                ("keys", "values"), self.cache.gather(seq), torch.stack(rows).unbind(1), strict=True
            ):
                what = f'the {name} from gather("{seq}") {after}'
                expect_close(yours, wanted, what, dims="token head feature", suspects=self.mistakes(wanted))
        yours, wanted = self.cache.num_free, self.plain.num_free
        causes = {
            True: "blocks are taken, or kept, that nobody needs",
            False: "blocks that are in use count as free",
        }
        if yours != wanted:
            what = f"another number of free blocks {after}"
            expect_that(False, what, yours=yours, wanted=wanted, likely=causes[yours < wanted])

    def mistakes(self, wanted):
        size = self.plain.size
        last = len(wanted) - 1 - (len(wanted) - 1) % size
        return {
            "the tokens before it in the block are lost: copy what is in a shared block": lambda: torch.cat(
                [wanted[:last], torch.zeros_like(wanted[last:-1]), wanted[-1:]]
            ),
        }

    def slots(self, call):
        """Fail unless each token is where the table says."""
        for seq, rows in self.plain.rows.items():
            table = self.cache.tables[seq]
            for t, row in enumerate(rows):
                block, slot = int(table[t // self.plain.size]), t % self.plain.size
                yours = self.cache.keys[block, slot], self.cache.values[block, slot]
                for name, mine, wanted in zip(("keys", "values"), yours, row, strict=True):
                    expect_equal(mine, wanted, f'{name}[{block}, {slot}], token {t} of "{seq}", {call}')


@pytest.mark.parametrize("size", [1, 3, 4])
def test_append(answer, gen, size):
    """Tokens come back in order, whatever the chunks in which they came."""
    played = Played(answer, gen, 20, size)
    for new in (2, 1, 1, 1, 6, 3):
        played.append("a", new)
    played.append("b", 1)
    played.append("a", 2)
    played.append("b", 3)
    played.slots("after several appends")


def test_fork(answer, gen):
    """Sequences that were forked share blocks until one writes into the last."""
    played = Played(answer, gen, 30, 4)
    played.append("a", 6)
    played.fork("a", "b")
    played.fork("b", "c")
    for seq, new in (("b", 1), ("a", 1), ("c", 1), ("b", 5), ("a", 2)):
        played.append(seq, new)
    played.fork("a", "d")
    played.append("d", 1)
    played.append("a", 1)
    played.fork("a", "e")
    played.append("e", 3)
    played.append("f", 4)
    played.fork("f", "g")
    played.append("g", 1)
    played.slots("after forks and appends")


def test_free(answer, gen):
    """Blocks are given back when the last sequence that has them is freed, and taken again."""
    played = Played(answer, gen, 6, 2)
    played.append("a", 5)
    played.append("b", 3)
    played.free("a")
    played.append("b", 6)
    played.fork("b", "c")
    played.free("b")
    played.append("c", 1)
    played.append("d", 1)
    played.free("c")
    played.append("d", 10)
    played.slots("after frees")


def test_out_of_blocks(answer):
    """Where blocks are missing, append raises an error."""
    x = torch.ones(6, HEADS, DIM)
    for taken, seq, new in ((3, "a", 4), (6, "b", 1)):
        cache = answer.PagedCache(3, 2, HEADS, DIM)
        cache.append("a", x[:taken], x[:taken])
        call = f'append("{seq}", …) of {new} with {taken} of 6 slots taken by "a"'
        expect_raises(Exception, lambda c=cache, s=seq, n=new: c.append(s, x[:n], x[:n]), call)


@pytest.mark.fine
def test_refused(answer, gen):
    """Errors are RuntimeError, ValueError and KeyError, as told, and the cache is as it was."""
    played = Played(answer, gen, 4, 4)
    played.append("a", 6)
    played.fork("a", "b")
    played.append("c", 3)
    cache, one = played.cache, torch.ones(1, HEADS, DIM)
    many = one.expand(11, HEADS, DIM)
    for error, what, act in (
        (RuntimeError, "append of 11 tokens with one block left", lambda: cache.append("a", many, many)),
        (RuntimeError, "append of 9 tokens to a new sequence", lambda: cache.append("d", many[:9], many[:9])),
        (RuntimeError, "append of 3, a copy among them", lambda: cache.append("b", many[:3], many[:3])),
        (ValueError, "append with one head for two", lambda: cache.append("c", one[:, :1], one[:, :1])),
        (ValueError, "append with one value for two keys", lambda: cache.append("c", many[:2], one)),
        (KeyError, "gather of an unknown sequence", lambda: cache.gather("e")),
        (KeyError, "fork of an unknown sequence", lambda: cache.fork("e", "f")),
        (KeyError, "free of an unknown sequence", lambda: cache.free("e")),
    ):
        expect_raises(error, act, what)
        played.done = []
        played.compare(what)
    played.append("b", 2)


@pytest.mark.fine
def test_memory(answer):
    """All memory is there from the start; append allocates what it adds, and fork nothing."""
    made, wanted = [], 2 * 64 * 4 * 8 * 16 * 4
    held = held_bytes(lambda: made.append(answer.PagedCache(64, 4, 8, 16)))
    what = "PagedCache(64, 4, 8, 16) holds another amount of memory"
    expect_that(wanted <= held <= wanted + 4096, what, yours=f"{held} bytes", wanted=f"{wanted} bytes")
    cache, x = made[0], torch.ones(1, 8, 16)
    cache.append("a", x.expand(150, 8, 16), x.expand(150, 8, 16))
    used = peak_bytes(lambda: cache.append("a", x, x))
    what = "append of one token to 150 allocates as much as a copy of many"
    expect_that(used < 32 * x.nbytes, what, yours=f"{used} bytes", wanted=f"about {2 * x.nbytes}")
    used = peak_bytes(lambda: cache.fork("a", "b"))
    expect_that(used < 1024, "fork allocates memory", yours=f"{used} bytes", wanted="none")


@pytest.mark.fine
def test_graphs_and_dtypes(answer, gen, device):
    """The cache holds no graph, and has the dtype and device that are asked for."""
    cache, x = answer.PagedCache(4, 2, HEADS, DIM, dtype=torch.float64), torch.ones(3, HEADS, DIM).double()
    cache.append("a", x.clone().requires_grad_() * 2, x)
    keys, values = cache.gather("a")
    expect_that(not keys.requires_grad, "what gather returns requires gradients: the cache holds a graph")
    expect_equal(values.dtype, torch.float64, "the dtype of gather with dtype=torch.float64")
    there = answer.PagedCache(4, 2, HEADS, DIM, device=device)
    there.append("a", x.float().to(device), x.float().to(device))
    there.fork("a", "b")
    there.append("b", x.float().to(device), x.float().to(device))
    expect_that(is_simulated(there.gather("b")[0]), "keys leave the device")


@pytest.mark.fine
def test_names_again(answer, gen):
    """A sequence that was freed may begin anew, and one may have no tokens yet."""
    played = Played(answer, gen, 3, 4)
    played.append("a", 5)
    played.free("a")
    played.append("a", 2)
    played.append("b", 0)
    yours = played.cache.gather("b")[0].shape
    expect_equal(yours, torch.Size([0, HEADS, DIM]), "the shape of the keys of a sequence without tokens")


def oracle(answer, gen):
    def appended(gen):
        cache, x = answer.PagedCache(9, 3, HEADS, DIM), torch.randn(20, HEADS, DIM, generator=gen)
        for start, end in ((0, 4), (4, 5), (5, 11), (11, 20)):
            cache.append("a", x[start:end], -x[start:end])
        return [t.clone() for t in cache.gather("a")]

    def forked(gen):
        cache, x = answer.PagedCache(9, 4, HEADS, DIM), torch.randn(9, HEADS, DIM, generator=gen)
        cache.append("a", x[:6], -x[:6])
        cache.fork("a", "b")
        cache.append("b", x[6:7], -x[6:7])
        cache.append("a", x[7:], -x[7:])
        return [t.clone() for name in "ab" for t in cache.gather(name)]

    def counts(gen):
        cache, found = answer.PagedCache(99, 3, HEADS, DIM), []
        for seq in range(8):
            new = int(torch.randint(1, 15, (), generator=gen))
            cache.append(seq, *torch.randn(2, new, HEADS, DIM, generator=gen))
            cache.fork(seq, f"child of {seq}")
            cache.append(f"child of {seq}", *torch.randn(2, 2, HEADS, DIM, generator=gen))
            found.append(cache.num_free)
        for seq in range(8):
            cache.free(seq)
            found.append(cache.num_free)
        return found

    return {"tokens of one sequence": appended, "tokens after a fork": forked, "free blocks": counts}
