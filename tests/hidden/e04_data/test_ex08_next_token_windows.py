"""What grades next_token_windows: every length and stride, views, odd memory, dtypes, devices, errors."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from grader.checks import (
    count_operations,
    count_steps,
    expect_equal,
    expect_raises,
    expect_that,
    expect_view,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host


def reference(tokens, block, stride, offset):
    row = on_host(tokens).tolist()
    starts = range(offset, len(row) - block, stride)
    x = [row[i : i + block] for i in starts]
    y = [row[i + 1 : i + 1 + block] for i in starts]
    return [torch.tensor(rows, dtype=tokens.dtype).view(-1, block) for rows in (x, y)]


def call_of(block, stride, offset):
    return f"next_token_windows(tokens, {block}, {stride}, {offset})"


def expect_windows(answer, tokens, block, stride=None, offset=0, note=""):
    wanted = reference(tokens, block, block if stride is None else stride, offset)
    yours = answer.next_token_windows(tokens, block, stride, offset)
    call = f"{call_of(block, stride, offset)} of {len(tokens)} tokens{note}"
    expect_that(isinstance(yours, (tuple, list)) and len(yours) == 2, f"{call} returns no pair", yours=yours)
    for name, mine, right in zip("xy", yours, wanted, strict=True):
        expect_that(isinstance(mine, torch.Tensor), f"{name} from {call} is no tensor", yours=mine)
        expect_equal(on_host(mine), right, f"{name} from {call}", dims="windows block")
    return yours


def row(count, dtype=torch.int64):
    return (100 + torch.arange(count)).to(dtype)


@pytest.mark.parametrize("block,stride", [(1, 1), (3, 3), (3, 1), (4, 2), (2, 5), (4, 3), (1, 2), (5, 4)])
def test_every_length(answer, block, stride):
    """For every length of the row all complete windows are there, and no others."""
    for count in range(16):
        expect_windows(answer, row(count), block, stride)


def test_offsets(answer):
    """The first window starts at the offset, wherever that is, also past the end."""
    for offset in (1, 2, 3, 6, 7, 8, 9, 10, 40):
        for block, stride in [(3, 2), (2, 2), (1, 4), (4, 7)]:
            expect_windows(answer, row(11), block, stride, offset)


def test_defaults(answer):
    """Without a stride every token is read at most once; without an offset windows start at the first."""
    tokens = row(17)
    for block in (1, 3, 4, 16, 17, 30):
        for yours in (
            answer.next_token_windows(tokens, block),
            answer.next_token_windows(tokens, block=block),
        ):
            for name, mine, right in zip("xy", yours, reference(tokens, block, block, 0), strict=True):
                expect_equal(mine, right, f"{name} from next_token_windows(tokens, {block}) of 17 tokens")
        expect_windows(answer, tokens, block, None, 2)


def test_too_short(answer):
    """Rows without one complete window give shape (0, block) and keep their dtype."""
    for count, block, offset in [(0, 1, 0), (0, 4, 0), (1, 1, 0), (4, 4, 0), (3, 9, 0), (9, 4, 5), (4, 2, 9)]:
        for dtype in (torch.int64, torch.uint16):
            expect_windows(answer, row(count, dtype), block, None, offset)


def test_views(answer):
    """x and y are views: a token that changes does so in every window."""
    tokens = row(12)
    for block, stride, offset in [(4, 2, 0), (3, 3, 1), (2, 4, 0), (11, 1, 0)]:
        x, y = answer.next_token_windows(tokens, block, stride, offset)
        expect_view(x, tokens, f"x from {call_of(block, stride, offset)}")
        expect_view(y, tokens, f"y from {call_of(block, stride, offset)}")
        tokens[offset + 1] += 1000
        wanted = reference(tokens, block, stride, offset)
        expect_equal(x, wanted[0], "x after a token has changed")
        expect_equal(y, wanted[1], "y after a token has changed")


def test_memory(answer):
    """A row of 200,000 tokens takes no memory of its own to cut."""
    tokens = row(200_000, torch.int32)
    for block, stride in [(64, 64), (64, 1), (8, 20)]:
        used = peak_bytes(lambda block=block, stride=stride: answer.next_token_windows(tokens, block, stride))
        expect_that(
            used <= 4096,
            f"{call_of(block, stride, 0)} of 200,000 tokens makes new tensors",
            yours=f"{used} bytes",
            wanted="views of the 800,000 bytes that are there",
        )


def test_cost(answer):
    """The cost is the same for ten windows and for a thousand."""
    costs = []
    for windows in (10, 10, 1000):  # what is done once, such as a lazy import, is no cost
        tokens = row(8 * windows + 1)

        def cut(tokens=tokens):
            answer.next_token_windows(tokens, 8)

        costs.append((sum(count_operations(cut).values()), count_steps(cut)))
    for what, small, large in zip(("operations", "Python steps"), costs[1], costs[2], strict=True):
        expect_that(
            large - small <= 100,
            f"the cost of {call_of(8, None, 0)} grows with the number of windows",
            yours=f"{small} {what} for 10 windows, {large} for 1000",
        )


def test_odd_memory(answer):
    """Rows inside larger memory, with gaps or without, are read as they are, and stay views."""
    corpus = row(48)
    for name, tokens in [
        ("corpus[5:]", corpus[5:]),
        ("corpus[::2]", corpus[::2]),
        ("corpus[3:40:3]", corpus[3:40:3]),
        ("a column", corpus.view(12, 4)[:, 1]),
        ("a row", corpus.view(4, 12)[2]),
        ("one token expanded", corpus[7:8].expand(9)),
    ]:
        for block, stride, offset in [(3, 2, 0), (2, 3, 2), (4, None, 1)]:
            x, y = expect_windows(answer, tokens, block, stride, offset, f", {name}")
            expect_view(x, corpus, f"x of {name}")
            expect_view(y, corpus, f"y of {name}")


@pytest.mark.parametrize(
    "dtype", [torch.uint16, torch.uint8, torch.int16, torch.int32, torch.float32], ids=str
)
def test_dtypes(answer, dtype):
    """Tokens keep their dtype, uint16 as it is in files among them."""
    tokens = row(11, dtype)
    x, _ = expect_windows(answer, tokens, 3, 2, 1)
    expect_view(x, tokens, f"x in {dtype}")


def test_from_a_file(answer, tmp_path):
    """Tokens mapped from a file stay there."""
    file = tmp_path / "tokens.bin"
    (np.arange(30, dtype=np.uint16) + 40_000).tofile(file)
    tokens = torch.from_numpy(np.memmap(file, dtype=np.uint16, mode="r+"))
    x, y = expect_windows(answer, tokens, 4, 3, 2, " in a file")
    expect_view(x, tokens, "x of tokens in a file")
    expect_view(y, tokens, "y of tokens in a file")


def test_on_a_device(answer, device):
    """The windows are where the tokens are, and nothing is copied between host and device."""
    for count in (11, 2, 0):
        tokens = row(count).to(device)
        with count_traffic() as traffic:
            yours = answer.next_token_windows(tokens, 3, 2)
        for mine, right in zip(yours, reference(tokens, 3, 2, 0), strict=True):
            expect_that(is_simulated(mine), "the windows are on another device than the tokens", yours=mine)
            expect_equal(on_host(mine), right, f"the windows of {count} tokens on a device")
        if count == 11:  # where no window fits there is nothing to copy
            expect_no_traffic(traffic, "next_token_windows(tokens, 3, 2)")


def test_tokens_are_left_alone(answer):
    """The tokens are not changed, in values, shape or stride."""
    for tokens in (row(9), row(9)[::2], row(1), row(0)):
        before = tokens.shape, tokens.stride()
        with unchanged("next_token_windows(tokens, 2, 1)", tokens=tokens):
            answer.next_token_windows(tokens, 2, 1)
        expect_equal(
            (tokens.shape, tokens.stride()) == before, True, "tokens have the shape and stride they had"
        )


def test_in_a_loader(answer):
    """A shuffled loader over the windows gives each of them once."""
    x, y = answer.next_token_windows(row(26), 4, 3)
    batches = list(DataLoader(TensorDataset(x, y), batch_size=3, shuffle=True))
    read = torch.cat([torch.cat(batch, 1) for batch in batches])
    wanted = torch.cat(reference(row(26), 4, 3, 0), 1)
    expect_equal(read[read[:, 0].argsort()], wanted, "x and y of all windows, in order")


def test_bad_input(answer):
    """A table, a single token, and numbers that are too small raise ValueError, also for short rows."""
    for tokens in (row(12), row(0)):
        for block, stride, offset in [
            (0, 1, 0), (-1, 1, 0), (0, None, 0), (-3, None, 0),
            (2, 0, 0), (2, -1, 0), (2, 1, -1), (2, None, -12),
        ]:  # fmt: skip
            expect_raises(
                ValueError,
                lambda tokens=tokens, bad=(block, stride, offset): answer.next_token_windows(tokens, *bad),
                f"{call_of(block, stride, offset)} of {len(tokens)} tokens",
            )
    for tokens in (
        row(12).view(3, 4),
        row(12).view(1, 12),
        row(12).view(12, 1),
        row(1)[0],
        row(0).view(0, 2),
    ):
        expect_raises(
            ValueError,
            lambda tokens=tokens: answer.next_token_windows(tokens, 2),
            f"next_token_windows(tokens, 2) of shape {tuple(tokens.shape)}",
        )


def oracle(answer, gen):
    results = []
    for _ in range(12):
        count, block, stride, offset = (
            int(torch.randint(*r, (), generator=gen)) for r in [(0, 40), (1, 9), (1, 9), (0, 6)]
        )
        tokens = torch.randint(0, 1000, (count,), generator=gen)
        results.append([t.clone() for t in answer.next_token_windows(tokens, block, stride, offset)])
    results.append([t.clone() for t in answer.next_token_windows(tokens, 5)])
    return results
