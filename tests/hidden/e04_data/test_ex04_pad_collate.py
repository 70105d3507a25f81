"""What grades pad_collate: shapes, dtypes, empty sequences, memory, devices, workers, errors."""

import functools
import math
import os
import pickle
from types import SimpleNamespace

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from grader.checks import expect_equal, expect_raises, expect_that, held_bytes
from grader.checks.devices import is_simulated, on_host

FORK = "fork" if hasattr(os, "fork") else None
DTYPES = [torch.int64, torch.int32, torch.uint8, torch.bool, torch.float64, torch.float16, torch.bfloat16]


def drawn(gen, lengths, features=(), dtype=torch.float32):
    """Sequences of these lengths, with zeros among their values."""
    return [(4 * torch.randn(n, *features, generator=gen)).round().abs().to(dtype) for n in lengths]


def padded(sequences, padding=0, multiple_of=1):
    """What a batch of them is, written step by step, and what mistakes make of its values."""
    expect_that(len(sequences) > 0, "pad_collate takes the sequences out of the list that it was given")
    lengths = [s.shape[0] for s in sequences]
    time = math.ceil(max(lengths) / multiple_of) * multiple_of
    values = torch.full((len(lengths), time, *sequences[0].shape[1:]), padding, dtype=sequences[0].dtype)
    mask = torch.zeros(len(lengths), time, dtype=torch.bool)
    for i, s in enumerate(sequences):
        for t in range(s.shape[0]):
            values[i, t] = s[t]
            mask[i, t] = True
    by_length = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    mistakes = {
        "padding stands before each sequence, not after it": lambda: torch.stack(
            [row.roll(time - n, 0) for row, n in zip(values, lengths, strict=True)]
        ),
        "padded with 0, not with padding": lambda: torch.where(
            mask.view(*mask.shape, *[1] * (values.dim() - 2)), values, 0
        ),
        "the rows are sorted by length: they keep the order of the sequences": lambda: values[by_length],
    }
    return values, torch.tensor(lengths), mask, mistakes


def expect_batch(batch, wanted, call):
    values, lengths, mask, mistakes = wanted
    expect_that(hasattr(batch, "values"), f"{call} is no PaddedBatch", yours=batch)
    dims = "batch time" + " feature" * (values.dim() - 2)
    expect_equal(batch.lengths, lengths, f"lengths of {call}", dims="batch")
    expect_equal(batch.values.shape, values.shape, f"the shape of values of {call}")
    expect_equal(batch.mask, mask, f"mask of {call}", dims="batch time")
    nan = values.is_floating_point() and bool(values.isnan().any())
    if nan:
        expect_equal(batch.values.isnan(), values.isnan(), f"the NaN in values of {call}", dims=dims)
        numbers = batch.values.masked_fill(values.isnan(), 0)  # infinities stay
        expect_equal(numbers, values.masked_fill(values.isnan(), 0), f"values of {call}", dims=dims)
    else:
        expect_equal(batch.values, values, f"values of {call}", dims=dims, suspects=mistakes)


LENGTHS = [(3, 1, 2), (1, 4), (5,), (2, 2, 2), (0, 3, 1), (2, 0), (0,), (0, 0), (1, 1), (7, 6, 5, 4, 3)]


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_lengths(answer, gen, lengths):
    """Sequences of any length make a batch, also empty ones, one alone, or all of one length."""
    for features in ((), (3,), (2, 1, 4), (0,)):
        sequences = drawn(gen, lengths, features)
        for multiple_of in (1, 4):
            wanted = padded(sequences, 2, multiple_of)
            call = f"pad_collate of lengths {lengths} and features {features}, multiple_of={multiple_of}"
            expect_batch(answer.pad_collate(sequences, 2, multiple_of), wanted, call)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(answer, gen, dtype):
    """The batch has the dtype of the sequences, with whatever padding, also if all are empty."""
    for padding in (0, 1):
        for lengths in ((3, 1, 2), (0, 0)):
            sequences = drawn(gen, lengths, (2,), dtype)
            call = f"pad_collate(…, padding={padding}) of lengths {lengths} in {dtype}"
            expect_batch(answer.pad_collate(sequences, padding), padded(sequences, padding), call)
    if dtype == torch.bool:
        sequences = [torch.tensor([False, True]), torch.tensor([False])]
        batch = answer.pad_collate(sequences, padding=True)
        expect_batch(batch, padded(sequences, True), "pad_collate(…, padding=True)")


def test_exact(answer):
    """No number is rounded on its way: ids above 2**53, float64 digits, infinities."""
    for sequences in (
        [torch.tensor([2**53 + 1, -(2**62) - 1]), torch.tensor([2**63 - 1, 5, -(2**63)])],
        [torch.tensor([2**24 + 1], dtype=torch.int32), torch.tensor([1, 2], dtype=torch.int32)],
        [torch.tensor([1 / 3, 1e300], dtype=torch.float64), torch.tensor([math.pi], dtype=torch.float64)],
        [torch.tensor([math.inf, -math.inf, -0.0]), torch.tensor([1e-45])],
    ):
        call = f"pad_collate of {sequences[0].tolist()} and {sequences[1].tolist()}"
        expect_batch(answer.pad_collate(sequences), padded(sequences), call)
    ids = [torch.tensor([2**53 + 1, -(2**62) - 1]), torch.tensor([5])]
    call = "pad_collate of int64 ids above 2**53, padding=-1.0"
    expect_batch(answer.pad_collate(ids, -1.0), padded(ids, -1), call)


def test_padding(answer):
    """Any padding value is used, and steps that hold it are real steps nevertheless."""
    tokens = [
        torch.tensor([0, 3, 0]),
        torch.tensor([-100]),
        torch.tensor([0, 0]),
        torch.tensor([-1, 0, 0, 0]),
    ]
    for padding in (0, -1, -100, 3, 2**24 + 1):
        call = f"pad_collate(tokens, padding={padding})"
        expect_batch(answer.pad_collate(tokens, padding=padding), padded(tokens, padding), call)
    frames = [torch.tensor([[0.5, math.nan], [0.0, 0.0]]), torch.tensor([[math.nan, math.nan]])]
    for padding in (0.5, -1e9, -math.inf, math.nan):
        call = f"pad_collate(frames, padding={padding})"
        expect_batch(answer.pad_collate(frames, padding=padding), padded(frames, padding), call)
    line = [frame[:, 1] for frame in frames]
    call = "pad_collate(…, padding=-inf) of sequences with NaN"
    expect_batch(answer.pad_collate(line, -math.inf), padded(line, -math.inf), call)
    wide = [frame.double() for frame in frames]
    expect_batch(
        answer.pad_collate(wide, padding=0.1), padded(wide, 0.1), "pad_collate(…, padding=0.1) in float64"
    )


@pytest.mark.parametrize("multiple_of", [1, 3, 6, 49, 64])
def test_multiple_of(answer, gen, multiple_of):
    """time is the least multiple that the longest sequence fits into, and no more."""
    for longest in (0, 1, 2, 3, 7, 8, 9, 16, 17):
        sequences = drawn(gen, (longest // 2, longest, 0))
        wanted = padded(sequences, 1, multiple_of)
        call = f"pad_collate(…, multiple_of={multiple_of}) with a longest of {longest}"
        expect_batch(answer.pad_collate(sequences, padding=1, multiple_of=multiple_of), wanted, call)


def test_layouts(answer, gen):
    """Sequences may be views in any layout, and come as a list or a tuple."""
    table = torch.randn(6, 5, generator=gen)
    sequences = [table.T, table.T[1:3], table[1:2, :1].expand(4, 6), table.T[::2], table.T[:0]]
    wanted = padded(sequences, 9)
    expect_batch(answer.pad_collate(sequences, 9), wanted, "pad_collate of views in a list")
    expect_batch(answer.pad_collate(tuple(sequences), 9), wanted, "pad_collate of views in a tuple")


def test_memory(answer, gen):
    """The batch has memory of its own, and the sequences and the list stay as they are."""
    for lengths, multiple_of in (((4,), 1), ((4,), 4), ((3, 3), 1), ((2, 5, 0), 1)):
        sequences = drawn(gen, lengths, (2,))
        given, before = list(sequences), [s.clone() for s in sequences]
        batch = answer.pad_collate(given, multiple_of=multiple_of)
        call = f"pad_collate of lengths {lengths}, multiple_of={multiple_of}"
        expect_equal(len(given), len(sequences), f"the length of the list after {call}")
        expect_that(all(a is b for a, b in zip(given, sequences, strict=True)), f"{call} changes its list")
        for row in range(len(lengths)):  # also rows that share memory with each other would show
            batch.values[row].fill_(77.0 + row)
        batch.mask.logical_not_()
        batch.lengths.add_(1)
        for s, was in zip(sequences, before, strict=True):
            expect_equal(s, was, f"a sequence after the batch of {call} was written into")
        for row in range(len(lengths)):
            expect_that(
                bool((batch.values[row] == 77.0 + row).all()),
                f"rows of {call} share memory",
                yours=batch.values,
            )
        expect_batch(answer.pad_collate(sequences), padded(sequences), f"{call}, once more")


def test_two_calls(answer, gen):
    """A call leaves earlier batches alone, whichever of the two is larger, and keeps nothing."""
    calls = [((2, 3), 0, 1), ((1, 5, 4), -1, 8), ((1,), 5, 2), ((2, 3), 7, 1), ((3, 1), 0, 1)]
    sequences = [drawn(gen, lengths) for lengths, _, _ in calls]
    wanted = [padded(s, *options) for s, (_, *options) in zip(sequences, calls, strict=True)]
    batches = [answer.pad_collate(s, *options) for s, (_, *options) in zip(sequences, calls, strict=True)]
    for (lengths, *options), batch, right in zip(calls, batches, wanted, strict=True):
        expect_batch(batch, right, f"pad_collate of lengths {lengths} with {options}, one of five calls")
    again = answer.pad_collate(sequences[0])
    expect_batch(again, padded(sequences[0]), "pad_collate with its defaults after other calls")
    kept = held_bytes(lambda: len(answer.pad_collate(drawn(gen, (1031, 5)), 3)))
    expect_that(
        kept == 0,
        "pad_collate keeps a tensor when its batch is gone",
        yours=f"{kept} bytes",
        wanted="nothing from one call to the next",
        likely="a cache",
    )


def test_on_a_device(answer, gen, device):
    """Sequences on another device make a batch there."""
    for lengths in ((3, 1, 2), (4,), (0, 0)):
        sequences = drawn(gen, lengths, (2,))
        wanted = padded(sequences, 5, 4)
        batch = answer.pad_collate([s.to(device) for s in sequences], 5, 4)
        for name in ("values", "lengths", "mask"):
            expect_that(is_simulated(getattr(batch, name)), f"{name} is on another device than the sequences")
        parts = {name: on_host(getattr(batch, name)) for name in ("values", "lengths", "mask")}
        expect_batch(SimpleNamespace(**parts), wanted, f"pad_collate of lengths {lengths} on another device")


def pickled(collate, sequences):
    """The batch that the function makes after pickling, after pickling."""
    try:
        return pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(collate))(sequences)))
    except (pickle.PicklingError, AttributeError) as error:
        return expect_that(False, "pad_collate, or its batch, cannot be pickled", error=str(error))


class Sentences(Dataset):
    """Sentence i has as many words as i has letters."""

    def __init__(self, lengths, broken=-1):
        self.lengths, self.broken = lengths, broken

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        words = torch.arange(self.lengths[index]) + 100 * index
        return words.float() if index == self.broken else words


@pytest.mark.parametrize("workers", [0, 2])
def test_in_a_loader(answer, workers):
    """As collate_fn it batches every sequence once, with and without workers, in each epoch."""
    data = Sentences([3, 0, 1, 5, 2, 0, 4])
    kept = {"multiprocessing_context": FORK, "persistent_workers": True} if workers else {}
    collate = functools.partial(answer.pad_collate, padding=-1, multiple_of=2)
    loader = DataLoader(data, 3, collate_fn=collate, num_workers=workers, **kept)
    pickled(collate, [data[0], data[1]])  # a worker whose batch cannot be pickled never answers
    for epoch in range(2):
        batches = list(loader)
        call = f"a loader with {workers} workers in epoch {epoch}"
        expect_equal(len(batches), 3, f"the number of batches of {call}")
        for start, batch in zip((0, 3, 6), batches, strict=True):
            sequences = [data[i] for i in range(start, min(start + 3, 7))]
            expect_batch(batch, padded(sequences, -1, 2), call)


def test_an_error_in_a_worker(answer):
    """The ValueError for sequences that do not fit reaches the loop over a loader, from a worker too."""
    for workers in (0, 1):
        context = FORK if workers else None
        loader = DataLoader(
            Sentences([2, 3, 1], broken=2), 3, collate_fn=answer.pad_collate, num_workers=workers,
            multiprocessing_context=context,
        )  # fmt: skip
        expect_raises(ValueError, lambda loader=loader: list(loader), f"a loader with {workers} workers")


def test_pickled(answer, gen):
    """The function and its batches can be pickled, as for spawned workers."""
    sequences = drawn(gen, (2, 3))
    batch = pickled(functools.partial(answer.pad_collate, padding=4), sequences)
    expect_batch(batch, padded(sequences, 4), "pad_collate after pickling")


def test_bad_input(answer):
    """Nothing to pad, other dtypes or features, no dimensions, or a multiple below 1 raise ValueError."""
    one = torch.ones(2, 3)
    for name, sequences in {
        "no sequences": [],
        "float32 and float64": [one, one.double()],
        "float64 and float32": [one.double(), one],
        "float16 and float32": [one.half(), one],
        "float16 and bfloat16": [one.half(), one.bfloat16()],
        "int64 and an empty float32": [torch.tensor([1, 2]), torch.tensor([])],
        "int32 and int64": [torch.tensor([1], dtype=torch.int32), torch.tensor([1])],
        "bool and int64": [torch.tensor([True]), torch.tensor([1])],
        "3 and 2 features": [one, one[:, :2]],
        "3 features and 1": [one, one[:, :1]],
        "1 feature and 3": [one[:, :1], one],
        "3 features and none": [one, one[:, 0]],
        "none and 3 features": [one[:, 0], one],
        "features (3,) and (1, 3)": [one, one[:, None]],
        "features (2, 3) and (3, 2)": [torch.ones(2, 2, 3), torch.ones(2, 3, 2)],
        "empty ones with 3 and 2 features": [one[:0], one[:0, :2]],
        "a third one with other features": [one, one, one[:, 1:]],
        "no dimensions": [torch.tensor(3)],
        "a second one without dimensions": [torch.tensor([3]), torch.tensor(3)],
        "a first one without dimensions": [torch.tensor(3), torch.tensor([3])],
    }.items():
        expect_raises(ValueError, lambda s=sequences: answer.pad_collate(s), f"pad_collate of {name}")
    for multiple_of in (0, -1, -8):
        expect_raises(
            ValueError,
            lambda m=multiple_of: answer.pad_collate([one], multiple_of=m),
            f"pad_collate(…, multiple_of={multiple_of})",
        )
        expect_raises(
            ValueError,
            lambda m=multiple_of: answer.pad_collate([one[:0]], multiple_of=m),
            f"pad_collate of an empty sequence with multiple_of={multiple_of}",
        )


def oracle(answer, gen):
    lengths = torch.randint(0, 6, (4,), generator=gen).tolist()
    result = []
    for dtype, features in ((torch.int64, ()), (torch.float64, (3,)), (torch.bfloat16, (2, 2))):
        batch = answer.pad_collate(drawn(gen, lengths, features, dtype), padding=3, multiple_of=4)
        result.append([batch.values, batch.lengths, batch.mask])
    return result
