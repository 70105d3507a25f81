"""What grades next_token_windows: lengths, strides, offsets; views, parts, short rows, errors."""

from functools import partial

import pytest
import torch

from grader.checks import expect_view
from grader.checks.contract import Contract, device, dtypes, errors, given, strides, values


def row(gen, count=60):
    return torch.randint(50_000, (count,), generator=gen)


def cut(tokens, block, stride=None, offset=0, ahead=1, default=None, more=0):
    """Windows and their targets, start by start; or with a mistake."""
    listed, stride = tokens.tolist(), stride or default or block
    starts = range(offset, len(listed) - block + more, stride)
    return tuple(
        torch.tensor([listed[i + n : i + n + block] for i in starts if i + n + block <= len(listed)])
        .to(tokens.dtype)
        .view(-1, block)
        for n in (0, ahead)
    )


def of_every_length(gen):
    ways = [(1, 1), (3, 3), (3, 1), (4, 2), (2, 5), (5, 4)]
    return [given(row(gen, n), *way) for way in ways for n in reversed(range(way[0] + 1, 18))]


def with_offsets(gen):
    ways = [(3, 2), (2, 2), (1, 4), (4, 7)]
    return [given(row(gen, 11), *way, offset) for offset in (1, 2, 3, 5) for way in ways]


contract = Contract(
    "next_token_windows(tokens, block, stride, offset)",
    reference=cut,
    dims="windows block",
    inputs=lambda gen: {
        "windows side by side": given(row(gen), 4),
        "windows that overlap": given(row(gen), 5, 2),
        "windows with gaps": given(row(gen), 3, 7),
        "windows with an offset": given(row(gen), 4, 3, 6),
        "a single window": given(row(gen, 17), 16),
    },
    suspects={
        "the targets are the inputs: they stand one place on": partial(cut, ahead=0),
        "windows begin one token apart: without a stride, a block apart": partial(cut, default=1),
        "windows begin a block apart: they begin `stride` apart": (
            lambda tokens, block, stride=None, offset=0: cut(tokens, block, None, offset)
        ),
        "a window is there whose last token has none after it": partial(cut, more=1),
        "the last window is left out, which is complete: its target ends with the row": partial(cut, more=-1),
        "the first window starts at the first token: it starts at the offset": (
            lambda tokens, block, stride=None, offset=0: cut(tokens, block, stride)
        ),
    },
    job=[
        values(
            inputs=of_every_length,
            name="every_length",
            title="For rows of any length all complete windows are there, and no others.",
        ),
        values(inputs=with_offsets, name="offsets", title="The first window starts at the offset."),
    ],
    fine=[
        strides(title="Parts of a larger row, with gaps or without, are read as they are."),
        dtypes(torch.uint16, torch.uint8, torch.int32, title="Tokens keep their dtype, uint16 among them."),
        values(
            inputs=lambda gen: [
                given(row(gen, count), block, None, offset)
                for count, block, offset in ((0, 1, 0), (4, 4, 0), (3, 9, 0), (9, 4, 5), (4, 2, 9))
            ],
            name="too_short",
            title="Rows without one complete window give the shape (0, block).",
        ),
        device(title="The windows are where the tokens are."),
        errors(
            (ValueError, RuntimeError),
            lambda gen: [(row(gen), *bad) for bad in ((0,), (-2,), (3, 0), (3, -1), (3, 2, -1))],
            title="A block or stride of 0, and an offset below 0, raise ValueError.",
        ),
    ],
)


@pytest.mark.fine
@pytest.mark.refuses("returns a copy")
def test_views(answer, gen):
    """x and y are views: nothing is copied."""
    tokens = row(gen, 30)
    for how in ((4, 2, 0), (3, 3, 1), (2, 4, 0), (29, 1, 0)):
        for name, part in zip("xy", answer.next_token_windows(tokens, *how), strict=True):
            expect_view(part, tokens, f"{name} from next_token_windows(tokens, {', '.join(map(str, how))})")
