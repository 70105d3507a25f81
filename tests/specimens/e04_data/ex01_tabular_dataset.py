"""Answers to tabular_dataset that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FEATURES = "self.features = features.float()  # (rows, columns); the same tensor if it is float32"
LABELS = "self.labels = labels.long()  # (rows,)"
ITEM = "return self.features[index].clone(), self.labels[index].clone()  # (columns,), ()"
SLICE = "return TabularDataset(self.features[index], self.labels[index])"

SPECIMENS = [
    Wrong(
        "features stay float64",
        edits=[(FEATURES, "self.features = features")],
        check="test_rows",
        says="wrong dtype from x",
        rung="job",
    ),
    Wrong(
        "labels stay int32",
        edits=[(LABELS, "self.labels = labels")],
        check="test_rows",
        says="wrong dtype from y",
        rung="job",
    ),
    Wrong(
        "a label of one element",
        edits=[(ITEM, "return self.features[index].clone(), self.labels[index].clone().view(1)")],
        check="test_rows",
        says="wrong shape from y",
        rung="job",
    ),
    Wrong(
        "a list of two",
        edits=[(ITEM, "return [self.features[index].clone(), self.labels[index].clone()]")],
        check="test_rows",
        says="no pair",
        rung="job",
    ),
    Wrong(
        "counts the columns",
        edits=[("return len(self.labels)", "return self.features.shape[1]")],
        check="test_rows",
        says="len(data)",
        rung="job",
    ),
    Wrong(
        "no rows from the end",
        edits=[(ITEM, "if index < 0:\n            raise IndexError(index)\n        " + ITEM)],
        check="test_rows",
        rung="job",
    ),
    Wrong(
        "wraps around, so that a for loop has no end",
        edits=[(ITEM, "index = index % len(self)\n        " + ITEM)],
        check="test_end",
        says="no error",
        rung="job",
    ),
    Wrong(
        "arrays only",
        edits=[
            (
                "torch.as_tensor(features), torch.as_tensor(labels)",
                "torch.from_numpy(features), torch.from_numpy(labels)",
            ),
            (SLICE, "return TabularDataset(self.features[index].numpy(), self.labels[index].numpy())"),
        ],
        check="test_tensors",
    ),
    Wrong(
        "the label as a number",
        edits=[(ITEM, "return self.features[index].clone(), int(self.labels[index])")],
        check="test_y_is_a_tensor",
        says="no tensor",
    ),
    Wrong(
        "views of the table",
        edits=[(ITEM, "return self.features[index], self.labels[index]")],
        check="test_pairs_are_the_callers",
    ),
    Wrong(
        "a slice gives a pair of tensors",
        edits=[(SLICE, "return self.features[index].clone(), self.labels[index].clone()")],
        check="test_slices",
        says="no TabularDataset",
    ),
    Wrong(
        "copies the table",
        edits=[
            ("torch.as_tensor(features)", "torch.tensor(np.asarray(features))"),
        ],
        check="test_nothing_is_copied",
        says="copies",
    ),
    Wrong(
        "converts the whole table for each row",
        edits=[
            (FEATURES, "self.features = features"),
            (ITEM, "return self.features.float()[index].clone(), self.labels[index].clone()"),
        ],
        check="test_a_row_alone",
        says="more than its row",
    ),
    Wrong(
        "Python integers only",
        edits=[(ITEM, "if not isinstance(index, int):\n            raise TypeError(index)\n        " + ITEM)],
        check="test_kinds_of_integers",
    ),
    Wrong(
        "holds a function",
        edits=[(LABELS, LABELS + "\n        self.transform = lambda x: x")],
        check="test_pickled",
    ),
    Wrong(
        "cuts labels that are floats",
        edits=[("if labels.is_floating_point():", "if labels.is_complex():")],
        check="test_errors",
    ),
    Works(
        "as the tutorial on datasets: hold the arrays, convert the item",
        code="""
import torch
from torch.utils.data import Dataset


class TabularDataset(Dataset):
    def __init__(self, features, labels):
        self.features = features
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        x = torch.tensor(self.features[idx], dtype=torch.float32)
        y = torch.tensor(self.labels[idx], dtype=torch.long)
        return x, y
""",
    ),
    Works(
        "from_numpy once, rows as views",
        code="""
import torch
from torch.utils.data import Dataset


class TabularDataset(Dataset):
    def __init__(self, features, labels):
        self.x = torch.from_numpy(features).float()
        self.y = torch.from_numpy(labels).long()

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, i):
        return self.x[i], self.y[i]
""",
    ),
    Works(
        "labels as Python numbers, which a loader makes int64",
        code="""
import torch
from torch.utils.data import Dataset


class TabularDataset(Dataset):
    def __init__(self, features, labels):
        self.features = torch.tensor(features, dtype=torch.float32)
        self.labels = [int(label) for label in labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.features[index], self.labels[index]
""",
    ),
    Right(
        "rows by number into tables as they are, converted row by row",
        code="""
import operator

import torch
from torch.utils.data import Dataset


class TabularDataset(Dataset):
    def __init__(self, features, labels, rows=None):
        self._x, self._y = torch.as_tensor(features), torch.as_tensor(labels)
        if self._y.dtype.is_floating_point:
            raise TypeError("labels are whole numbers")
        if self._x.shape[0] != self._y.shape[0]:
            raise ValueError("rows")
        self._rows = range(self._x.shape[0]) if rows is None else rows

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return TabularDataset(self._x, self._y, self._rows[index])
        row = self._rows[operator.index(index)]
        return self._x[row].to(torch.float32, copy=True), torch.tensor(int(self._y[row]))
""",
    ),
    Right(
        "NumPy inside",
        code="""
import operator

import numpy as np
import torch
from torch.utils.data import Dataset


class TabularDataset(Dataset):
    def __init__(self, features, labels):
        features, labels = np.asarray(features), np.asarray(labels)
        if features.shape[:1] != labels.shape:
            raise ValueError("the shapes do not fit")
        if labels.dtype.kind == "f":
            raise TypeError("labels have to be whole numbers")
        self.table = features.astype(np.float32, copy=False)
        self.column = labels.astype(np.int64, copy=False)

    def __len__(self):
        return self.column.shape[0]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self.table[index], self.column[index])
        i = operator.index(index)
        return torch.tensor(self.table[i]), torch.tensor(self.column[i])
""",
    ),
]
