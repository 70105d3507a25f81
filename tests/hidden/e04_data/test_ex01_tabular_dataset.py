"""What grades tabular_dataset: dtypes, all kinds of indices, slices, memory, loaders, errors."""

import os

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from grader.checks import expect_equal, expect_raises, expect_that, peak_bytes
from grader.checks.dataloader.workers import imported_anew

FORK = "fork" if hasattr(os, "fork") else None


def table(gen, rows, columns=3):
    return torch.randn(rows, columns, generator=gen), torch.randint(-50, 50, (rows,), generator=gen)


def expect_pair(pair, x, y, call, suspects=None):
    expect_that(isinstance(pair, tuple) and len(pair) == 2, f"{call} is no pair", yours=pair)
    expect_equal(pair[0], x, f"x of {call}", dims="columns", suspects=suspects)
    expect_equal(pair[1], y, f"y of {call}")


def expect_rows(answer, data, x, y, call):
    """Fail unless `data` is a dataset of these rows, by index from both ends, and ends there."""
    expect_that(isinstance(data, answer.TabularDataset), f"{call} is no TabularDataset", yours=data)
    expect_that(isinstance(data, Dataset), f"{call} is no torch.utils.data.Dataset", yours=data)
    expect_equal(len(data), len(y), f"len({call})")
    for row in range(-len(y), len(y)):
        expect_pair(data[row], x[row], y[row], f"{call}[{row}]")
    for row in (len(y), -len(y) - 1, 10**6, -(10**6), 2 * len(y) + 3):
        expect_raises(IndexError, lambda row=row: data[row], f"{call}[{row}] of {len(y)} rows")


KINDS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_features(answer, gen, dtype):
    """Features of any dtype, as tensor or array, whole or a view, come as float32."""
    most = 200 if dtype == torch.uint8 else 30_000  # more than half precision tells apart
    whole = (most * torch.rand(8, 6, generator=gen, dtype=torch.float64)).to(dtype)
    y = torch.arange(4)
    for x in (whole[:4], whole[::2, 1:3], whole.T[:4], whole[:1].expand(4, 6), whole[4:, :1]):
        wanted = x.to(torch.float32).clone()
        call = f"TabularDataset(features in {dtype}, labels)"
        expect_rows(answer, answer.TabularDataset(x, y), wanted, y, call)
        if dtype != torch.bfloat16:
            data = answer.TabularDataset(x.numpy(), y.numpy())
            expect_rows(answer, data, wanted, y, f"{call} as arrays")


def test_labels(answer):
    """Labels of any width, or bools, come as int64, and none is rounded."""
    x = torch.zeros(3, 2)
    for values, dtype in (
        ([2**24 + 1, -(2**53) - 1, 2**62], torch.int64),
        ([2**31 - 1, -5, 16777217], torch.int32),
        ([-32768, 0, 32767], torch.int16),
        ([-100, 0, 127], torch.int8),
        ([255, 0, 200], torch.uint8),
        ([2**16 - 1, 0, 300], torch.uint16),
        ([2**32 - 1, 0, 70000], torch.uint32),
        ([2**53 + 1, 0, 2**63 - 1], torch.uint64),
        ([True, False, True], torch.bool),
    ):
        y, wanted = torch.tensor(values, dtype=dtype), torch.tensor([int(v) for v in values])
        call = f"TabularDataset(features, labels in {dtype})"
        expect_rows(answer, answer.TabularDataset(x, y), x, wanted, call)
        expect_rows(answer, answer.TabularDataset(x, y.numpy()), x, wanted, f"{call} as array")
        alternate = torch.stack([y, y], dim=1)[:, 1]
        viewed = answer.TabularDataset(x, alternate)
        expect_rows(answer, viewed, x, wanted, f"{call} as view")
        expect_rows(answer, viewed[::-1], x, wanted.flip(0), f"{call}, [::-1]")


@pytest.mark.parametrize("rows,columns", [(0, 3), (1, 1), (1, 4), (5, 0), (0, 0), (7, 2)], ids=str)
def test_sizes(answer, gen, rows, columns):
    """Tables of any size, also without rows or columns, and a for loop over one ends."""
    x, y = table(gen, rows, columns)
    data = answer.TabularDataset(x, y)
    expect_rows(answer, data, x, y, f"TabularDataset of ({rows}, {columns})")
    pairs = []
    for pair in data:
        pairs.append(pair)
        expect_that(len(pairs) <= rows, f"a for loop over {rows} rows goes on after the last")
    expect_equal(len(pairs), rows, f"the number of pairs in a for loop over {rows} rows")
    for row, pair in enumerate(pairs):
        expect_pair(pair, x[row], y[row], f"pair {row} in a for loop")


def test_kinds_of_integers(answer, gen):
    """NumPy integers and integer tensors are indices like Python's, from either end."""
    x, y = table(gen, 5)
    data = answer.TabularDataset(x, y)
    for kind in (np.int64, np.int32, np.int8, torch.tensor, lambda i: torch.tensor(i, dtype=torch.int8)):
        for row in (0, 3, -1, -5):
            index = kind(row)
            expect_pair(data[index], x[row], y[row], f"data[{index!r}]")
        for row in (5, -6):
            index = kind(row)
            expect_raises(IndexError, lambda index=index: data[index], f"data[{index!r}] of 5 rows")
    for index in (np.int64(2**32 + 1), torch.tensor(2**32 + 1), 2**32 + 1):  # 1, if cut to 32 bits
        expect_raises(IndexError, lambda index=index: data[index], f"data[{index!r}] of 5 rows")
    expect_pair(data[np.uint8(4)], x[4], y[4], "data[np.uint8(4)]")
    for row in (0, 1, 4):
        index = torch.tensor(row, dtype=torch.uint8)
        expect_pair(data[index], x[row], y[row], f"data[{index!r}]")
    x, y = table(gen, 300)
    data = answer.TabularDataset(x, y)
    for index in (np.int8(-1), torch.tensor(-1, dtype=torch.int8)):
        expect_pair(data[index], x[-1], y[-1], f"data[{index!r}] of 300 rows")
    expect_pair(data[::-1][0], x[-1], y[-1], "data[::-1][0] of 300 rows")


SLICES = [
    slice(None), slice(2, 5), slice(None, 3), slice(4, None), slice(-3, None), slice(None, -2),
    slice(np.int64(-5), np.int8(-1)),
    slice(0, 100), slice(-100, 2), slice(50, 60), slice(5, 2), slice(3, 3), slice(None, None, 2),
    slice(1, None, 3), slice(None, None, 100), slice(None, None, -1), slice(5, 1, -1), slice(6, None, -2),
    slice(None, 2, -1), slice(-2, -6, -3), slice(100, None, -1), slice(0, 5, -1), slice(2, -100, -1),
]  # fmt: skip


@pytest.mark.parametrize("rows", [7, 1, 0])
def test_slices(answer, gen, rows):
    """A slice holds the rows of the same slice of a list, in its order."""
    x, y = table(gen, rows)
    data = answer.TabularDataset(x.double(), y.int())
    for part in SLICES:
        at = torch.tensor(list(range(rows))[part], dtype=torch.int64)
        call = f"data[{part.start}:{part.stop}:{part.step}]".replace("None", "")
        expect_rows(answer, data[part], x[at], y[at], f"{call} of {rows} rows")
    expect_rows(answer, data, x, y, "data after it was sliced")
    expect_raises(ValueError, lambda: data[::0], "data[::0]")


def test_slices_of_slices(answer, gen):
    """A slice can be sliced again and again, in either direction."""
    x, y = table(gen, 20)
    data, at = answer.TabularDataset(x, y), list(range(20))
    call = "data"
    for part in (
        slice(2, 19),
        slice(None, None, -2),
        slice(1, -1),
        slice(None, None, -1),
        slice(-4, None, 2),
    ):
        data, at = data[part], at[part]
        call += f"[{part.start}:{part.stop}:{part.step}]".replace("None", "")
        expect_rows(answer, data, x[at], y[at], call)


def test_two_datasets(answer, gen):
    """Two datasets know nothing of each other."""
    (x, y), (other_x, other_y) = table(gen, 4), table(gen, 6, 2)
    data, other = answer.TabularDataset(x, y), answer.TabularDataset(other_x, other_y)
    expect_rows(answer, data, x, y, "the first of two datasets")
    expect_rows(answer, other, other_x, other_y, "the second of two datasets")


def test_pairs_are_the_callers(answer, gen):
    """Writing into a pair changes neither the dataset, nor a slice, nor what another index gives."""
    for dtype, labels in ((torch.float32, torch.int64), (torch.float64, torch.int32)):
        x, y = table(gen, 5)
        given, numbers = x.to(dtype, copy=True), y.to(labels, copy=True)
        data = answer.TabularDataset(given, numbers)
        forward, back = data[1:4], data[::-1]
        earlier = data[2]
        for source, row in ((data, 2), (data, -1), (forward, 0), (back, 1)):
            mine = source[row]
            mine[0].fill_(99.0)
            mine[1].fill_(77)
        for mine in data:
            mine[0].fill_(99.0)
            mine[1].fill_(77)
            break
        expect_pair(earlier, x[2], y[2], f"a pair from before ({dtype})")
        expect_rows(answer, data, x, y, f"data after pairs were written into ({dtype})")
        expect_rows(answer, forward, x[1:4], y[1:4], f"data[1:4] after pairs were written into ({dtype})")
        expect_rows(answer, back, x.flip(0), y.flip(0), f"data[::-1] after pairs were written into ({dtype})")
        expect_equal(given.float(), x, f"the features that were given ({dtype})")
        expect_equal(numbers.long(), y, f"the labels that were given ({dtype})")


def test_not_copied(answer, gen):
    """float32 features and int64 labels are held as they are: what is written into them later shows."""
    x, y = table(gen, 6)
    arrays = x.clone().numpy(), y.clone().numpy()
    views = torch.randn(6, 7, generator=gen)[:, 1::2], torch.arange(12)[::2]
    for what, features, labels in (("tensors", x, y), ("arrays", *arrays), ("views", *views)):
        data = answer.TabularDataset(features, labels)
        part, before = data[1:][::3], torch.tensor(features[4].tolist())
        suspects = {"the row as it was before: features, or those of a slice, are copied": before.clone}
        expect_pair(data[4], before, torch.tensor(labels[4].item()), f"data[4] of {what}")
        features[4], labels[4] = 5.5, 123
        for row, call in ((data[4], "data[4]"), (part[1], "data[1:][::3][1]")):
            written = torch.full((3,), 5.5), torch.tensor(123)
            expect_pair(row, *written, f"{call} of {what}, written into since", suspects)
    wide, column = torch.zeros(64, 100), torch.zeros(64, dtype=torch.int64)
    cost = peak_bytes(lambda: answer.TabularDataset(wide, column))
    expect_that(cost < 6400, "TabularDataset(features, labels) copies", yours=f"{cost} of 25600 bytes")


def test_slices_copy_no_rows(answer, gen):
    """A slice with a positive step copies no rows."""
    x, y = torch.randn(64, 100, generator=gen), torch.zeros(64, dtype=torch.int64)
    for features, labels in ((x, y), (x.double(), y.int())):
        data = answer.TabularDataset(features, labels)
        for part in (slice(None), slice(2, 60), slice(0, None, 2)):
            cost = peak_bytes(lambda part=part, data=data: data[part])
            call = f"data[{part.start}:{part.stop}:{part.step}] of features in {features.dtype}".replace(
                "None", ""
            )
            wanted = "a view, or indices"
            expect_that(cost < 3000, f"{call} copies rows", yours=f"{cost} bytes", wanted=wanted)


def test_a_row_alone(answer, gen):
    """An index converts and copies the row that it stands for, not the table."""
    x, y = torch.randn(64, 100, generator=gen), torch.arange(64)
    for features, labels in ((x, y), (x.double(), y.int()), (x.double().numpy(), y.int().numpy())):
        data = answer.TabularDataset(features, labels)
        for rows, name in ((data, "data"), (data[::-1], "data[::-1]"), (data[2:50:3], "data[2:50:3]")):
            cost = peak_bytes(lambda rows=rows: rows[5])
            told = f"{name}[5] copies more than its row, of features in {features.dtype}"
            expect_that(cost < 3000, told, yours=f"{cost} bytes", wanted="about 400")


@pytest.mark.parametrize("workers", [0, 2])
def test_in_a_loader(answer, gen, workers):
    """A DataLoader, with and without workers, gives each row once in each epoch, the short tail too."""
    x, y = table(gen, 7)
    data = answer.TabularDataset(x.double(), y.int())
    kept = {"multiprocessing_context": FORK, "persistent_workers": True} if workers else {}
    loader = DataLoader(data, 3, num_workers=workers, **kept)
    for epoch in range(2):
        batches = list(loader)
        call = f"a loader with {workers} workers in epoch {epoch}"
        expect_equal([len(b) for _, b in batches], [3, 3, 1], f"the sizes of the batches of {call}")
        expect_equal(torch.cat([a for a, _ in batches]), x, f"the features of {call}", dims="rows columns")
        expect_equal(torch.cat([b for _, b in batches]), y, f"the labels of {call}", dims="rows")
    if not workers:
        expect_equal(next(iter(DataLoader(data[::-3], 3)))[0], x[[6, 3, 0]], "a batch of data[::-3]")
        expect_equal(len(list(DataLoader(data[:0], 3))), 0, "the number of batches of data[:0]")


def test_an_error_in_a_worker(answer, gen):
    """A sampler that asks for a row too many gets its IndexError, from a worker as well."""
    data = answer.TabularDataset(*table(gen, 4))
    for workers in (0, 1):
        context = FORK if workers else None
        loader = DataLoader(data, 2, sampler=[0, 3, 4], num_workers=workers, multiprocessing_context=context)
        expect_raises(IndexError, lambda loader=loader: list(loader), f"a loader with {workers} workers")


def test_pickled(answer, gen):
    """A dataset, and a slice of it, can be pickled for spawned workers, which import your file anew."""
    x, y = table(gen, 6)
    data = answer.TabularDataset(x.numpy(), y.int().numpy())
    anew, whole, part, ahead = imported_anew(answer, "dataset", data, data[4:1:-1], data[1::2])
    expect_rows(anew, whole, x, y, "the dataset after pickling")
    expect_rows(anew, part, x[[4, 3, 2]], y[[4, 3, 2]], "data[4:1:-1] after pickling")
    expect_rows(anew, ahead, x[1::2], y[1::2], "data[1::2] after pickling")


def test_other_indices(answer, gen):
    """Anything else as an index raises TypeError."""
    for data in (answer.TabularDataset(*table(gen, 4)), answer.TabularDataset(*table(gen, 0))):
        for index in (
            1.0, "1", None, [0, 1], [], (1, 2), (0,), ..., np.float64(1.0), torch.tensor(1.0),
            torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([[-1]]), np.array([0, 1]),
            np.array([0]), (slice(2), 1),
        ):  # fmt: skip
            expect_raises(TypeError, lambda index=index, data=data: data[index], f"data[{index!r}]")


def array_of(floats):
    """NumPy has no bfloat16."""
    return (floats.float() if floats.dtype == torch.bfloat16 else floats).numpy()


def test_bad_tables(answer):
    """Floats as labels raise TypeError, and shapes that do not fit ValueError."""
    column = torch.zeros(4, dtype=torch.int64)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        floats = torch.ones(4, dtype=dtype)
        call = f"TabularDataset(features, labels in {dtype})"
        expect_raises(TypeError, lambda floats=floats: answer.TabularDataset(torch.ones(4, 2), floats), call)
        expect_raises(
            TypeError,
            lambda floats=floats: answer.TabularDataset(np.ones((4, 2)), array_of(floats)),
            f"{call} as arrays",
        )
        call = f"TabularDataset without rows, labels in {dtype}"
        expect_raises(
            TypeError, lambda floats=floats: answer.TabularDataset(torch.ones(0, 2), floats[:0]), call
        )
    for shape, labels in (
        ((4,), column), ((4, 2, 1), column), ((3, 2), column), ((2, 4), column), ((5, 2), column),
        ((4, 2), column[:, None]), ((4, 2), column[None]), ((0, 4), column), ((4, 2), column[:0]),
        ((), column), ((4, 2), column[0]), ((1, 2), column[0]), ((1, 2), column), ((4, 2), column[:1]),
        ((0,), column[:0]),
    ):  # fmt: skip
        call = f"TabularDataset with shapes {shape} and {tuple(labels.shape)}"
        pairs = (torch.ones(shape), labels), (np.ones(shape), labels.numpy())
        for x, y in pairs:
            expect_raises(ValueError, lambda x=x, y=y: answer.TabularDataset(x, y), call)


def oracle(answer, gen):
    x, y = table(gen, 9, 4)
    data = answer.TabularDataset(x.double().numpy(), y.short())
    part = data[7:1:-2]
    pairs = [*data, *part, data[-3], part[1:][-1]]
    return [len(data), len(part), [list(pair) for pair in pairs]]
