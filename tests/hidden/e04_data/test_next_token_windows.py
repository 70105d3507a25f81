"""What grades next_token_windows: lengths, strides, offsets; views, parts, short rows, errors."""

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that, expect_view
from grader.checks.devices import is_simulated, on_host


def reference(tokens, block, stride, offset):
    row = tokens.tolist()
    starts = range(offset, len(row) - block, stride)
    x = [row[i : i + block] for i in starts]
    y = [row[i + 1 : i + 1 + block] for i in starts]
    return [torch.tensor(rows, dtype=tokens.dtype).view(-1, block) for rows in (x, y)]


def expect_windows(answer, tokens, block, stride=None, offset=0):
    wanted = reference(tokens, block, stride or block, offset)
    yours = answer.next_token_windows(tokens, block, stride, offset)
    call = f"next_token_windows(tokens, {block}, {stride}, {offset}) of {len(tokens)} tokens"
    expect_that(isinstance(yours, (tuple, list)) and len(yours) == 2, f"{call} returns no pair", yours=yours)
    rows = min(len(part) for part in wanted)
    sizes = [len(part) if isinstance(part, torch.Tensor) and part.dim() else 0 for part in yours]
    told = f"{sizes[0]} windows from {call}, and {rows} are complete, with the token after their last"
    expect_that(sizes == [rows, rows], told, yours=sizes[0], wanted=rows)
    suspects = {"the targets are the inputs: they stand one place on": lambda: wanted[0]}
    expect_equal(yours[0], wanted[0], f"x from {call}", dims="windows block")
    expect_equal(yours[1], wanted[1], f"y from {call}", dims="windows block", suspects=suspects)
    return yours


def row(gen, count, dtype=torch.int64):
    return torch.randperm(100, generator=gen)[:count].to(dtype)


@pytest.mark.parametrize("block,stride", [(1, 1), (3, 3), (3, 1), (4, 2), (2, 5), (5, 4)])
def test_every_length(answer, gen, block, stride):
    """For rows of any length all complete windows are there, and no others."""
    for count in reversed(range(block + 1, 18)):
        expect_windows(answer, row(gen, count), block, stride)


def test_offsets(answer, gen):
    """The first window starts at the offset."""
    for offset in (1, 2, 3, 5):
        for block, stride in ((3, 2), (2, 2), (1, 4), (4, 7)):
            expect_windows(answer, row(gen, 11), block, stride, offset)


def test_default_stride(answer, gen):
    """Without a stride every token is read once."""
    tokens = row(gen, 17)
    for block in (1, 3, 4, 16):
        x, y = answer.next_token_windows(tokens, block)
        call = f"next_token_windows(tokens, {block}) of 17 tokens"
        ones = reference(tokens, block, 1, 0)
        for place, (name, mine) in enumerate(zip("xy", (x, y), strict=True)):
            right = reference(tokens, block, block, 0)[place]
            close = {
                "windows begin one token apart: without a stride, a block apart": lambda n=place, o=ones: o[n]
            }
            expect_equal(mine, right, f"{name} from {call}", dims="windows block", suspects=close)


@pytest.mark.fine
def test_views(answer, gen):
    """x and y are views: nothing is copied."""
    tokens = row(gen, 30)
    for block, stride, offset in ((4, 2, 0), (3, 3, 1), (2, 4, 0), (29, 1, 0)):
        x, y = answer.next_token_windows(tokens, block, stride, offset)
        call = f"next_token_windows(tokens, {block}, {stride}, {offset})"
        expect_view(x, tokens, f"x from {call}")
        expect_view(y, tokens, f"y from {call}")


@pytest.mark.fine
def test_parts(answer, gen):
    """Parts of a larger row, with gaps or without, are read as they are."""
    corpus = row(gen, 48)
    for tokens in (corpus[5:], corpus[::2], corpus[3:40:3], corpus.view(12, 4)[:, 1]):
        for block, stride, offset in ((3, 2, 0), (2, 3, 2), (4, None, 1)):
            expect_windows(answer, tokens, block, stride, offset)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint8, torch.int32], ids=str)
def test_dtypes(answer, gen, dtype):
    """Tokens keep their dtype, uint16 among them."""
    expect_windows(answer, row(gen, 11, dtype), 3, 2, 1)


@pytest.mark.fine
def test_too_short(answer, gen):
    """Rows without one complete window give the shape (0, block)."""
    for count, block, offset in ((0, 1, 0), (4, 4, 0), (3, 9, 0), (9, 4, 5), (4, 2, 9)):
        expect_windows(answer, row(gen, count), block, None, offset)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """The windows are where the tokens are."""
    tokens = row(gen, 11)
    yours = answer.next_token_windows(tokens.to(device), 3, 2)
    for name, mine, right in zip("xy", yours, reference(tokens, 3, 2, 0), strict=True):
        expect_that(is_simulated(mine), f"{name} is on another device than the tokens", yours=mine)
        expect_equal(on_host(mine), right, f"{name} of tokens on a device")


@pytest.mark.fine
def test_errors(answer, gen):
    """A block or stride of 0, and an offset below 0, raise ValueError."""
    tokens = row(gen, 12)
    for given in ((0,), (-2,), (3, 0), (3, -1), (3, 2, -1)):
        call = f"next_token_windows(tokens, {', '.join(map(str, given))})"
        kinds = (ValueError, RuntimeError)
        expect_raises(kinds, lambda given=given: answer.next_token_windows(tokens, *given), call)


def oracle(answer, gen):
    def windows(*options):
        def case(gen):
            tokens, block = (
                torch.randint(50_000, (60,), generator=gen),
                torch.randint(3, 8, (), generator=gen),
            )
            drawn = [
                int(torch.randint(3, 8, (), generator=gen)) if option is None else option
                for option in options
            ]
            return list(answer.next_token_windows(tokens, int(block), *drawn))

        return case

    return {
        "windows side by side": windows(),
        "windows that overlap": windows(2),
        "windows with a stride": windows(None),
        "windows with an offset": windows(None, None),
    }
