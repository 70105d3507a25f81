"""What grades tabular_dataset: rows, dtypes, the end, a loader; slices, memory, kinds of indices, errors."""

from itertools import islice

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from grader.checks import expect_equal, expect_raises, expect_that, peak_bytes
from grader.checks.dataloader.workers import imported_anew


def table(gen, rows=5, columns=3):
    """Features in float64 and labels in int32, as arrays."""
    features = 9 * torch.randn(rows, columns, generator=gen, dtype=torch.float64)
    labels = torch.randint(0, 50, (rows,), generator=gen, dtype=torch.int32)
    return features.numpy(), labels.numpy()


def pair_of(data, index, call):
    """x and y of a row; y may be a number here."""
    pair = data[index]
    expect_that(isinstance(pair, tuple) and len(pair) == 2, f"{call} is no pair (x, y)", yours=pair)
    return pair[0], torch.as_tensor(pair[1])


def expect_rows(data, features, labels, name="data"):
    """Fail unless `data` has these rows, from either end."""
    x, y = torch.as_tensor(features).float(), torch.as_tensor(labels).long()
    expect_equal(len(data), len(y), f"len({name})")
    for row in range(-len(y), len(y)):
        call = f"{name}[{row}]"
        mine, label = pair_of(data, row, call)
        expect_equal(mine, x[row], f"x of {call}", dims="columns")
        expect_equal(label, y[row], f"y of {call}")


def test_rows(answer, gen):
    """A dataset has the length of its table, and gives each row and its label, from either end."""
    for rows, columns in ((5, 3), (2, 7), (1, 1)):
        features, labels = table(gen, rows, columns)
        data = answer.TabularDataset(features, labels)
        expect_that(isinstance(data, Dataset), "TabularDataset(…) is no Dataset of torch", yours=data)
        expect_rows(data, features, labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8], ids=str)
def test_features(answer, gen, dtype):
    """Features of any dtype come as float32."""
    features, labels = table(gen)
    features = np.abs(features).astype(dtype)
    expect_rows(answer.TabularDataset(features, labels), features, labels)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8, np.uint8], ids=str)
def test_labels(answer, gen, dtype):
    """Labels of any dtype come as int64."""
    features, labels = table(gen)
    labels = labels.astype(dtype)
    expect_rows(answer.TabularDataset(features, labels), features, labels)


def test_end(answer, gen):
    """A row that is not there raises IndexError, and so a for loop ends after the last."""
    data = answer.TabularDataset(*table(gen, 4))
    for row in (4, 5, -5):
        expect_raises(IndexError, lambda row=row: data[row], f"data[{row}] of 4 rows")
    pairs = []
    for pair in data:
        pairs.append(pair)
        expect_that(len(pairs) <= 4, "`for x, y in data` goes on after the last of 4 rows")
    expect_equal(len(pairs), 4, "the number of pairs in a for loop over 4 rows")


def test_in_a_loader(answer, gen):
    """A DataLoader makes batches of it: float32 features and int64 labels, each row once."""
    features, labels = table(gen, 7)
    batches = list(DataLoader(answer.TabularDataset(features, labels), batch_size=3))
    expect_equal([len(y) for _, y in batches], [3, 3, 1], "the sizes of the batches of 7 rows")
    x, y = torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])
    expect_equal(x, torch.as_tensor(features).float(), "the features of all batches", dims="rows columns")
    expect_equal(y, torch.as_tensor(labels).long(), "the labels of all batches", dims="rows")


@pytest.mark.fine
def test_tensors(answer, gen):
    """Features and labels may be tensors."""
    features, labels = (torch.from_numpy(part) for part in table(gen))
    expect_rows(answer.TabularDataset(features, labels), features, labels)


@pytest.mark.fine
def test_y_is_a_tensor(answer, gen):
    """y is a tensor, not a Python number."""
    label = answer.TabularDataset(*table(gen))[0][1]
    expect_that(isinstance(label, torch.Tensor), "y of data[0] is no tensor", yours=label)


@pytest.mark.fine
def test_pairs_are_the_callers(answer, gen):
    """Writing into x and y changes neither the dataset nor the table."""
    features, labels = table(gen)
    features, labels = features.astype(np.float32), labels.astype(np.int64)
    data, before = answer.TabularDataset(features, labels), (features.copy(), labels.copy())
    for row in (2, -1):
        x, y = data[row]
        x.fill_(99.0)
        torch.as_tensor(y).fill_(77)
    expect_rows(data, *before, "the data whose pairs were written into")


@pytest.mark.fine
def test_slices(answer, gen):
    """A slice is a TabularDataset of the rows of the same slice of a list."""
    features, labels = table(gen, 7)
    data = answer.TabularDataset(features, labels)
    for part in (slice(1, 3), slice(None, None, 2), slice(-3, None), slice(5, 100), slice(4, 2)):
        name = f"data[{part.start}:{part.stop}:{part.step}]".replace("None", "")
        rows = data[part]
        expect_that(isinstance(rows, answer.TabularDataset), f"{name} is no TabularDataset", yours=rows)
        expect_rows(rows, features[part], labels[part], name)
    expect_rows(data[1:][::3], features[1::3], labels[1::3], "data[1:][::3]")


@pytest.mark.fine
def test_nothing_is_copied(answer):
    """Neither float32 features and int64 labels nor slices are copied."""
    features, labels = torch.zeros(64, 100), torch.zeros(64, dtype=torch.int64)
    for x, y in ((features, labels), (features.numpy(), labels.numpy())):
        cost = peak_bytes(lambda x=x, y=y: answer.TabularDataset(x, y))
        expect_that(cost < 500, "TabularDataset(features, labels) copies", yours=f"{cost} of 26112 bytes")
    data = answer.TabularDataset(features, labels)
    cost = peak_bytes(lambda: data[2:60])
    expect_that(cost < 1000, "data[2:60] copies its rows", yours=f"{cost} of 23664 bytes")


@pytest.mark.fine
def test_a_row_alone(answer, gen):
    """An index converts and copies the row that it stands for, not the table."""
    data = answer.TabularDataset(*table(gen, 64, 100))
    cost = peak_bytes(lambda: data[5])
    expect_that(cost < 3000, "data[5] copies more than its row", yours=f"{cost} bytes", wanted="about 400")


@pytest.mark.fine
def test_kinds_of_integers(answer, gen):
    """NumPy integers and integer tensors are indices."""
    data = answer.TabularDataset(*table(gen))
    for index in (np.int64(3), np.int32(-1), torch.tensor(3), torch.tensor(-1)):
        x, y = pair_of(data, index, f"data[{index!r}]")
        wanted = pair_of(data, int(index), f"data[{int(index)}]")
        expect_equal(x, wanted[0], f"x of data[{index!r}]")
        expect_equal(y, wanted[1], f"y of data[{index!r}]")


@pytest.mark.fine
def test_pickled(answer, gen):
    """A dataset can be pickled, for workers that import your file anew."""
    features, labels = table(gen)
    _, data = imported_anew(answer, "dataset", answer.TabularDataset(features, labels))
    expect_rows(data, features, labels, "the dataset after pickling")


@pytest.mark.fine
def test_errors(answer, gen):
    """Floats as labels raise TypeError, and rows without labels, or labels without rows, ValueError."""
    features, labels = table(gen)
    call = "TabularDataset(features, labels in float64)"
    expect_raises(TypeError, lambda: answer.TabularDataset(features, labels.astype(np.float64)), call)
    for x, y in ((features[1:], labels), (features, labels[:3])):
        call = f"TabularDataset of {len(x)} rows with {len(y)} labels"
        expect_raises(ValueError, lambda x=x, y=y: answer.TabularDataset(x, y), call)


def oracle(answer, gen):
    def made(gen):
        return answer.TabularDataset(*table(gen, 9, 4))

    def rows(gen, part):
        """The features or the label of five rows, counted from either end."""
        data = made(gen)
        return [
            pair_of(data, row, f"data[{row}]")[part]
            for row in torch.randint(-9, 9, (5,), generator=gen).tolist()
        ]

    def loop(gen):
        data = made(gen)
        return [len(data), [x for x, _ in islice(data, 20)]]

    def labels(gen):
        data = made(gen)
        return [torch.as_tensor(data[row][1]) for row in range(9)] + [len(data)]

    return {
        "rows by index, from either end": lambda gen: rows(gen, 0),
        "their labels": lambda gen: rows(gen, 1),
        "all labels, and the number of rows": labels,
        "a for loop over the rows": loop,
        "the batches of a loader": lambda gen: [list(batch) for batch in DataLoader(made(gen), batch_size=4)],
    }
