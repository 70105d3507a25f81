"""What grades pad_collate: values, lengths, mask, features, dtypes, a loader; multiples, empties, memory."""

import functools
import math

import pytest
import torch
from torch.utils.data import DataLoader

from grader.checks import expect_copy, expect_equal, expect_raises, expect_that, unchanged
from grader.checks.devices import is_simulated, on_host

PARTS = ("values", "lengths", "mask")


def drawn(gen, lengths, features=(), dtype=torch.int64):
    """Sequences of these lengths, with zeros among their values."""
    return [torch.randint(0, 9, (n, *features), generator=gen).to(dtype) for n in lengths]


def padded(sequences, padding=0, multiple_of=1):
    """Values, lengths and mask, written step by step."""
    lengths = [len(s) for s in sequences]
    time = math.ceil(max(lengths) / multiple_of) * multiple_of
    values = torch.full((len(lengths), time, *sequences[0].shape[1:]), padding, dtype=sequences[0].dtype)
    mask = torch.zeros(len(lengths), time, dtype=torch.bool)
    for i, s in enumerate(sequences):
        for t in range(len(s)):
            values[i, t] = s[t]
            mask[i, t] = True
    return values, torch.tensor(lengths), mask


def expect_batch(batch, sequences, call, padding=0, multiple_of=1):
    values, lengths, mask = padded(sequences, padding, multiple_of)
    expect_that(all(hasattr(batch, part) for part in PARTS), f"{call} is no PaddedBatch", yours=batch)
    rows = list(zip(values, lengths.tolist(), strict=True))
    by_length = sorted(range(len(rows)), key=lambda i: -rows[i][1])
    mistakes = {
        "padding stands before each sequence, not behind it": lambda: torch.stack(
            [row.roll(len(row) - n, 0) for row, n in rows]
        ),
        "padded with 0, not with `padding`": lambda: padded(sequences, 0, multiple_of)[0],
        "the rows are sorted by length: they keep the order of the sequences": lambda: values[by_length],
        "time comes first: pad_sequence wants batch_first=True": lambda: values.transpose(0, 1),
    }
    from_values = {
        "steps that hold the padding value count as padding: the lengths tell real steps": lambda: (
            (values != padding).flatten(2).any(2) if values.dim() > 2 else values != padding
        ),
        "the mask is the other way round: True stands for real steps": lambda: ~mask,
    }
    dims = "batch time" + " feature" * (values.dim() - 2)
    expect_equal(batch.values, values, f"values of {call}", dims=dims, suspects=mistakes)
    expect_equal(batch.lengths, lengths, f"lengths of {call}", dims="batch")
    expect_equal(batch.mask, mask, f"mask of {call}", dims="batch time", suspects=from_values)


@pytest.mark.parametrize("lengths", [(3, 1, 2), (1, 4), (5,), (2, 2, 2), (7, 6, 5, 4, 3)], ids=str)
def test_tokens(answer, gen, lengths):
    """Tokens of any lengths are padded, in their order, with their lengths and a mask."""
    for padding in (0, -1, 3):
        sequences = drawn(gen, lengths)
        call = f"pad_collate(tokens, padding={padding}) of lengths {lengths}"
        expect_batch(answer.pad_collate([*sequences], padding=padding), sequences, call, padding)


@pytest.mark.parametrize("features", [(3,), (2, 4), (1,)], ids=str)
def test_features(answer, gen, features):
    """Steps may have features: values (batch, time, *features), and a mask (batch, time)."""
    sequences = drawn(gen, (3, 1, 4), features, torch.float32)
    call = f"pad_collate(frames, padding=0.5) with features {features}"
    expect_batch(answer.pad_collate([*sequences], padding=0.5), sequences, call, 0.5)


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.int32, torch.float32, torch.float64, torch.bool], ids=str
)
def test_dtypes(answer, gen, dtype):
    """values has the dtype of the sequences, lengths are int64, the mask is bool."""
    digits = {torch.int64: 2**40 + 1, torch.float64: 1 / 3}.get(dtype)  # more than float32 holds
    sequences = drawn(gen, (2, 4, 1), (), dtype)
    sequences = [s + digits for s in sequences] if digits else sequences
    expect_batch(answer.pad_collate([*sequences], padding=1), sequences, f"pad_collate in {dtype}", 1)


def test_in_a_loader(answer, gen):
    """As the collate_fn of a DataLoader it makes a batch of each few sequences."""
    data = drawn(gen, (3, 1, 5, 2, 4))
    collate = functools.partial(answer.pad_collate, padding=-1)
    batches = list(DataLoader(data, batch_size=2, collate_fn=collate))
    expect_equal(len(batches), 3, "the number of batches of a loader over 5 sequences, batch_size=2")
    for i, batch in enumerate(batches):
        expect_batch(batch, data[2 * i : 2 * i + 2], f"pad_collate, batch {i} of a loader", -1)


@pytest.mark.fine
@pytest.mark.parametrize("multiple_of", [1, 3, 8])
def test_multiple_of(answer, gen, multiple_of):
    """time is the least multiple that the longest sequence fits into."""
    for longest in (1, 3, 7, 8, 9, 16):
        sequences = drawn(gen, (1, longest, longest // 2 + 1))
        call = f"pad_collate(…, multiple_of={multiple_of}) with a longest of {longest}"
        batch = answer.pad_collate([*sequences], padding=1, multiple_of=multiple_of)
        expect_batch(batch, sequences, call, 1, multiple_of)


@pytest.mark.fine
def test_empty(answer, gen):
    """Some of the sequences may be empty, or all."""
    for lengths in ((0, 3, 1), (2, 0), (0,), (0, 0)):
        for features in ((), (3,)):
            sequences = drawn(gen, lengths, features)
            batch = answer.pad_collate([*sequences], 2)
            expect_batch(batch, sequences, f"pad_collate of lengths {lengths}", 2)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """values, lengths and mask are where the sequences are."""
    sequences = drawn(gen, (3, 1, 2))
    batch = answer.pad_collate([s.to(device) for s in sequences], 5, 2)
    for part in PARTS:
        expect_that(is_simulated(getattr(batch, part)), f"{part} is on another device than the sequences")
    expect_equal(on_host(batch.values), padded(sequences, 5, 2)[0], "values on a device", dims="batch time")


@pytest.mark.fine
def test_memory(answer, gen):
    """The batch has memory of its own; the list and the sequences stay as they are."""
    for lengths in ((4,), (3, 3), (1, 3, 2)):
        sequences, call = drawn(gen, lengths, (2,)), f"pad_collate of lengths {lengths}"
        given = list(sequences)
        with unchanged(call, **{f"sequence_{i}": s for i, s in enumerate(sequences)}):
            batch = answer.pad_collate(given)
        same = len(given) == len(sequences) and all(a is b for a, b in zip(given, sequences, strict=True))
        expect_that(same, f"{call} changes its list")
        expect_copy(batch.values, sequences[0], f"values of {call}")


@pytest.mark.fine
def test_errors(answer):
    """No sequences, or sequences of different dtypes, raise ValueError."""
    expect_raises((ValueError, RuntimeError), lambda: answer.pad_collate([]), "pad_collate([])")
    for name, sequences in {
        "int64 and float32": [torch.tensor([1, 2]), torch.tensor([1.0])],
        "float32 and float64": [torch.ones(2), torch.ones(1).double()],
    }.items():
        expect_raises(ValueError, lambda s=sequences: answer.pad_collate(s), f"pad_collate of {name}")


def oracle(answer, gen):
    def batch(draw, *parts, **options):
        def case(gen):
            lengths = [3, 1, 6, 2, *torch.randint(1, 8, (4,), generator=gen).tolist()]
            found = answer.pad_collate(draw(gen, lengths), **options)
            return [getattr(found, part) for part in parts]

        return case

    def frames(gen, lengths):
        return [torch.randn(n, 3, generator=gen) for n in lengths]

    return {
        **{f"the {part} of tokens": batch(drawn, part) for part in PARTS},
        "tokens, with a padding of -1": batch(drawn, *PARTS, padding=-1),
        "frames, with a padding of 0.5": batch(frames, *PARTS, padding=0.5),
    }
