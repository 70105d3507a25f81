"""What grades pack_documents: rows, labels, positions, segments, masks; empty documents, padding, devices."""

from functools import partial

import pytest
import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, device, flat_cost, given, untouched, values


def in_order(pieces, length):
    rows = []
    for piece in pieces:
        if not rows or sum(map(len, rows[-1])) + len(piece) > length:
            rows.append([])
        rows[-1].append(piece)
    return rows


def first_fit(pieces, length):
    rows = []
    for piece in pieces:
        room = [row for row in rows if sum(map(len, row)) + len(piece) <= length]
        (room or rows[len(rows) :] or [rows.append([]) or rows[-1]])[0].append(piece)
    return rows


def with_room_to_spare(pieces, length):
    rows = []
    for piece in pieces:
        if not rows or sum(map(len, rows[-1])) + len(piece) >= length:
            rows.append([])
        rows[-1].append(piece)
    return rows


def run_on(pieces, length):
    """One long row that is cut anywhere."""
    ends = [[(token, n) for token in piece] for n, piece in enumerate(pieces)]
    row = [pair for piece in ends for pair in piece]
    chunks = [row[i : i + length] for i in range(0, len(row), length)]
    return [
        [[token for token, other in chunk if other == n] for n in dict.fromkeys(n for _, n in chunk)]
        for chunk in chunks
    ]


def packed(
    documents,
    length,
    pad=0,
    *,
    rows_of=in_order,
    cut=True,
    label=lambda place, piece: piece[place] if place else -100,
    unlabelled=None,
    going_on=False,
    first=1,
    over_rows=False,
):
    """Place by place; or with a mistake."""
    starts = lambda d: range(0, len(d), length) if cut else range(min(len(d), 1))  # noqa: E731
    pieces = [list(d[i : i + length]) for d in documents for i in starts(d)]
    rows, before, results = rows_of(pieces, length), 0, []
    for row in rows:
        places = [(n, place, piece) for n, piece in enumerate(row) for place in range(len(piece))]
        fill = length - len(places)
        ids = [piece[place] for _, place, piece in places] + [pad] * fill
        labels = [label(place, piece) for _, place, piece in places] + [-100] * fill
        labels = [-100 if token == unlabelled else other for token, other in zip(ids, labels, strict=True)]
        positions = [at if going_on else place for at, (_, place, _) in enumerate(places)] + [0] * fill
        segments = [before + first + n for n, _, _ in places] + [0] * fill
        before += len(row) if over_rows else 0
        results.append((ids, labels, positions, segments))
    parts = zip(*results, strict=True) if results else [[]] * 4
    return tuple(torch.tensor(part, dtype=torch.int64).reshape(len(rows), length) for part in parts)


def drawn(gen, length, *sizes, pad=None, **options):
    documents = [torch.randint(10, 1000, (n,), generator=gen).tolist() for n in sizes]
    return given(documents, length, **options)


def holding_pads(gen, pad):
    """Documents that hold the token of padding, also as their last."""
    (documents, length), _, _ = drawn(gen, 8, 3, 4, 5)
    documents[0][1] = documents[1][3] = documents[2][0] = pad
    return given(documents, length, pad)


def results(answer, *args, **options):
    """The four results; in a list, or as lists, they can be taken apart as well."""
    return tuple(map(torch.as_tensor, answer.pack(*args, **options)))


pack = Contract(
    "pack(documents, length, pad)",
    reference=packed,
    use=results,
    dims=("row token",) * 4,
    inputs=lambda gen: {
        "short documents": drawn(gen, 9, 3, 2, 5, 4, 1, 3),
        "documents that fill their rows": drawn(gen, 6, 4, 2, 6, 3, 3, 1),
        "a document for an earlier row": drawn(gen, 7, 4, 5, 2, 3),
        "a document longer than a row": drawn(gen, 5, 2, 13, 2, 4),
        "another token of padding": drawn(gen, 8, 5, 4, 2, pad=7),
    },
    suspects={
        "documents are cut where a row ends: one that does not fit begins the next row": partial(
            packed, rows_of=run_on
        ),
        "documents go back to earlier rows that have room: they keep their order": partial(
            packed, rows_of=first_fit
        ),
        "a document that just fits begins a new row": partial(packed, rows_of=with_room_to_spare),
        "the last row is left out: it is filled up with padding": partial(
            packed, rows_of=lambda pieces, length: in_order(pieces, length)[:-1]
        ),
        "what is longer than a row is lost: it is cut into pieces": partial(packed, cut=False),
        "the first token of a document has a label: the token before it is another document's": partial(
            packed, label=lambda place, piece: piece[place]
        ),
        "labels are shifted already: the loss does that": partial(
            packed, label=lambda place, piece: [*piece[1:], -100][place]
        ),
        "positions run on through a row: they count from 0 in each document": partial(packed, going_on=True),
        "segments run on from row to row: they begin with 1 in each": partial(packed, over_rows=True),
        "segments begin with 0, which is padding: the first is 1": partial(packed, first=0),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "the token of padding in documents": holding_pads(gen, 0),
                "another token of padding in documents": holding_pads(gen, 5),
            },
            suspects={
                "what equals pad has no label: documents may hold it": lambda documents, length, pad=0: (
                    packed(documents, length, pad, unlabelled=pad)
                )
            },
            name="pads_in_documents",
            title="Documents may hold the token of padding.",
        ),
        values(
            inputs=lambda gen: {
                "documents without tokens": drawn(gen, 6, 0, 2, 0, 3, 0),
                "no documents": given([], 4),
                "none but empty documents": given([[], []], 4),
            },
            name="empty_documents",
            title="Documents without tokens are left out; without any the shape is (0, length).",
        ),
    ],
)


def visible(segments, later=False, others=False):
    """Token by token, those of padding left out."""
    count = segments.shape[1]
    seen = torch.zeros(*segments.shape, count, dtype=torch.bool)
    for row, numbers in enumerate(segments.tolist()):
        for i in range(count):
            for j in range(count):
                near = others or numbers[i] == numbers[j]
                seen[row, i, j] = near and (later or j <= i) and numbers[i] > 0
    return seen


def of_tokens(answer, segments):
    """The mask of what tokens see; what padding sees is the fine print's."""
    mask = answer.packed_mask(segments)
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.shape[:-1] != segments.shape:
        return mask
    return mask & (segments > 0).unsqueeze(-1)


def segments_of(gen, length, *sizes):
    return packed(*drawn(gen, length, *(int(n + torch.randint(2, (), generator=gen)) for n in sizes)).args)[3]


packed_mask = Contract(
    "packed_mask(segments)",
    reference=visible,
    use=of_tokens,
    dims="row looking looked_at",
    inputs=lambda gen: {
        "three rows": segments_of(gen, 9, 3, 2, 2, 4, 3, 5, 1),
        "a row": segments_of(gen, 12, 4, 3, 2),
        "rows of one document": segments_of(gen, 8, 6, 5, 7, 4),
        "as many rows as tokens": segments_of(gen, 5, 2, 2, 3, 3, 3, 4, 3)[:5],
    },
    suspects={
        "a token sees those after it": partial(visible, later=True),
        "a token sees other documents": partial(visible, others=True),
        "a token sees those after it, not those before: triu in place of tril": lambda segments: (
            visible(segments).mT
        ),
        "True and False are swapped: True is where a token may look": lambda segments: (
            ~visible(segments) & (segments > 0).unsqueeze(-1)
        ),
    },
    fine=[
        flat_cost(
            lambda n: torch.arange(n).expand(n, n) // 3 + 1,
            over="rows and tokens",
        ),
        untouched(),
        device(),
    ],
)


@pytest.mark.fine
@pytest.mark.of("packed_mask")
def test_padding_sees_something(answer, gen):
    """At padding the mask has at least one True."""
    for segments in (segments_of(gen, 9, 3, 2, 3, 4), torch.zeros(2, 3, dtype=torch.int64)):
        seen = answer.packed_mask(segments).any(-1)
        told = "packed_mask has rows without a True at padding: a softmax over them is NaN"
        expect_that(
            bool(seen.all()), told, yours=f"{int((~seen).sum())} such rows", segments=segments.tolist()
        )
