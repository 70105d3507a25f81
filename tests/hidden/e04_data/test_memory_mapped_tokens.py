"""What grades memory_mapped_tokens: blocks, when they are read; memory, pickles, workers, short files."""

import pickle
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_raises, expect_that, peak_bytes
from grader.checks.contract import Contract, given, values
from grader.checks.dataloader.workers import FORKED, PICKLED, imported_anew

# More workers than processors: a machine may have only one.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "tokens.bin"


def written(path, tokens, dtype="uint16"):
    """The path, as text, of a file that holds these tokens."""
    tokens.numpy().astype(dtype).tofile(path)
    return str(path)


def blocks(answer, tokens, block, dtype="uint16"):
    """All blocks of a file, stacked, and how many it says that there are."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "tokens.bin", tokens, dtype)
        data = answer.TokenFile(path, block, **({} if dtype == "uint16" else {"dtype": dtype}))
        count = len(data)
        pairs = [data[i] for i in range(count)]
    for i, (x, y) in enumerate(pairs):
        sizes, told = [len(x), len(y)], f"x and y of item {i} of {count} are not {block} tokens long"
        expect_that(sizes == [block, block], told, yours=f"{sizes}, from {len(tokens)} tokens")
    x, y = (torch.stack([torch.as_tensor(pair[part]) for pair in pairs]) for part in (0, 1))
    return {"x": x, "y": y, "len": torch.tensor(count)}


def cut(tokens, block, dtype="uint16", step=None, ahead=1, spare=1, seen=lambda tokens: tokens):
    """The same of tokens in memory; what comes after `dtype` is as people get it wrong."""
    tokens, step = seen(tokens), step or block
    starts = range(0, len(tokens) - block - spare + 1, step)[: (len(tokens) - 1) // block]
    x = torch.stack([tokens[i : i + block] for i in starts])
    y = torch.stack([tokens[i + ahead : i + ahead + block] for i in starts])
    return {"x": x, "y": y, "len": torch.tensor(len(x))}


def wrong(**how):
    return lambda tokens, block, dtype="uint16": cut(tokens, block, dtype, **how)


def drawn(gen, block, count, rest, **options):
    """Tokens of `count` blocks, one more that is a target only, and a rest."""
    high = 2**31 if options else 2**16
    return given(torch.randint(high, (block * count + 1 + rest,), generator=gen), block, **options)


contract = Contract(
    "TokenFile(path, block)",
    reference=cut,
    use=blocks,
    inputs=lambda gen: {
        "five blocks of 4": drawn(gen, 4, 5, 0),
        "six blocks of 7, and a rest": drawn(gen, 7, 6, 3),
        "a block short of a token": drawn(gen, 5, 3, 4),
        "one block": drawn(gen, 9, 1, 2),
    },
    suspects={
        "read as int16: tokens from 32768 on become negative": wrong(
            seen=lambda tokens: tokens.to(torch.int16).long()
        ),
        "y is x: it is one place on": wrong(ahead=0),
        "y begins a block later: it is one place on": lambda tokens, block, dtype="uint16": cut(
            tokens[: len(tokens) - block], block, dtype, ahead=block
        ),
        "item i begins at token i: at i * block": wrong(step=1),
        "blocks are block + 1 tokens apart": lambda tokens, block, dtype="uint16": cut(
            tokens, block, dtype, step=block + 1
        ),
        "the last block is missing": lambda tokens, block, dtype="uint16": cut(tokens[:-block], block),
    },
    job=[values(title="Each block holds its tokens and those that follow, and there are as many as fit.")],
    fine=[
        values(
            inputs=lambda gen: [drawn(gen, 4, 5, 2, dtype="uint32"), drawn(gen, 3, 2, 0, dtype="uint32")],
            name="four_bytes",
            title="Tokens may have four bytes.",
        )
    ],
)


def test_read_when_asked_for(answer, path, gen):
    """An item is read from the file when it is asked for, and not before."""
    old, new = torch.randint(2**16, (2, 16), generator=gen)
    data = answer.TokenFile(written(path, old), 5)
    with path.open("r+b") as file:
        file.write(new.numpy().astype(np.uint16).tobytes())
    read = "the file is read when the dataset is made: np.memmap reads what is asked for"
    suspects = {read: lambda: old[5:10]}
    expect_equal(
        data[1][0], new[5:10], "x of data[1], of a file changed after TokenFile(path, 5)", suspects=suspects
    )


def test_in_a_loader(answer, path, gen):
    """A DataLoader makes batches of the blocks."""
    tokens = torch.randint(2**16, (22,), generator=gen)
    wanted = cut(tokens, 3)
    batches = list(DataLoader(answer.TokenFile(written(path, tokens), 3), batch_size=4))
    expect_equal(torch.cat([x for x, _ in batches]), wanted["x"], "x of all batches", dims="blocks time")
    expect_equal(torch.cat([y for _, y in batches]), wanted["y"], "y of all batches", dims="blocks time")


@pytest.mark.fine
def test_memory(answer, path):
    """An item costs memory for its own tokens, not for the file."""
    data = answer.TokenFile(written(path, torch.arange(2**20) % 2**16), 8)
    wanted = data[5]
    tracemalloc.start()
    try:
        read = []
        most = peak_bytes(lambda: read.append(data[7]))
        most = max(most, tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    told = "data[7] needs memory for the whole file"
    expect_that(most < 2**19, told, yours=f"{most} bytes, for a file of {2**21}", wanted="some hundred bytes")
    expect_equal(wanted[0], torch.arange(40, 48), "x of data[5]")


@pytest.mark.fine
def test_pickled(answer, path):
    """Pickled, before and after it was read, the dataset is small, and reads the same file."""
    tokens = torch.arange(4000) * 13
    data = answer.TokenFile(written(path, tokens), 10)
    for told in ("a new dataset", "a dataset that was read"):
        _, there = imported_anew(answer, "dataset", data)
        size = len(pickle.dumps(data))
        likely = "the tokens are pickled as well: open the file anew in each process"
        expect_that(size < 2000, f"the pickle of {told} is large", yours=f"{size} bytes", likely=likely)
        expect_equal(there[3][0], tokens[30:40], f"x of item 3 of {told}, after pickling")
        data[1]


@pytest.mark.fine
@pytest.mark.parametrize("start", [FORKED, PICKLED], ids=["forked", "pickled"])
def test_workers(answer, path, gen, start):
    """Workers read the right blocks, also where the dataset was read before they started."""
    tokens = torch.randint(2**16, (400,), generator=gen)
    data = answer.TokenFile(written(path, tokens), 7)
    data[2]
    loader = DataLoader(data, 3, num_workers=2, multiprocessing_context=start)
    x = torch.cat([x for x, _ in loader])
    expect_equal(x, cut(tokens, 7)["x"], "x from two workers", dims="blocks time")


@pytest.mark.fine
def test_path(answer, path):
    """The path may be a Path."""
    written(path, torch.arange(9))
    expect_equal(answer.TokenFile(path, 4)[1][1], torch.arange(5, 9), "y of item 1, from a Path")


@pytest.mark.fine
def test_written_into(answer, path):
    """Writing into x changes neither y, nor the file, nor later items."""
    data = answer.TokenFile(written(path, torch.arange(100, 120)), 6)
    x, y = data[1]
    x.fill_(7)
    expect_equal(y, torch.arange(107, 113), "y of data[1] after writing into x")
    expect_equal(data[1][0], torch.arange(106, 112), "x of data[1], read again")
    found = torch.from_numpy(np.fromfile(path, np.uint16).astype(np.int64))
    expect_equal(found, torch.arange(100, 120), "the file after writing into x")


@pytest.mark.fine
def test_ends(answer, path):
    """Index -1 is the last item, and beyond either end is an IndexError."""
    data = answer.TokenFile(written(path, torch.arange(50, 65)), 4)
    expect_equal(data[-1][0], torch.arange(58, 62), "x of data[-1], of three blocks")
    for i in (3, -4):
        expect_raises(IndexError, lambda i=i: data[i], f"data[{i}] of three blocks")


@pytest.mark.fine
def test_short(answer, path):
    """A file that is too short for one item has the length 0, an empty one too."""
    for size in (4, 1, 0):
        data = answer.TokenFile(written(path, torch.arange(size)), 4)
        expect_equal(len(data), 0, f"len(TokenFile(path, 4)) of a file of {size} tokens")
