"""Answers to tabular_dataset that people write."""

from grader.authoring.specimen import Right, Wrong

FEATURES = "self.features = features.float()"
LABELS = "self.labels = labels.long()"
ITEM = "return self.features[row].clone(), self.labels[row].clone()"
ROW = "row = operator.index(index)"
STEP = "            if step > 0:\n"
FORWARD = "return TabularDataset(self.features[start:stop:step], self.labels[start:stop:step])"
BACK = "            return TabularDataset(self.features[at], self.labels[at])\n"
INDICES = "start, stop, step = index.indices(len(self))"
CONVERT = "features, labels = torch.as_tensor(features), torch.as_tensor(labels)"
GUARD = "if features.dim() != 2 or labels.dim() != 1 or len(features) != len(labels):"
FLOATS = "if labels.is_floating_point() or labels.is_complex():"


def instead(body: str) -> list[tuple[str, str]]:
    """Another way to take a slice."""
    old = (
        f"            {INDICES}\n            rows = range(start, stop, step)\n{STEP}                {FORWARD}\n"
        "            at = torch.tensor(rows, dtype=torch.int64)  # tensors have no negative strides\n" + BACK
    )
    return [(old, body)]


SPECIMENS = [
    Wrong(
        "pairs of a for loop are views",
        edits=[
            (
                "    def __len__(self) -> int:\n",
                "    def __iter__(self):\n        return iter(zip(self.features, self.labels))\n\n    def __len__(self) -> int:\n",
            )
        ],
        check="test_pairs_are_the_callers",
    ),
    Wrong("features keep their dtype", edits=[(FEATURES, "self.features = features")], check="test_features"),
    Wrong(
        "features in float64", edits=[(FEATURES, "self.features = features.double()")], check="test_features"
    ),
    Wrong(
        "counts from the end in the dtype of the index",
        edits=[
            (
                ROW,
                "row = operator.index(index + len(self) if isinstance(index, Tensor) and index < 0 else index)\n        if row < 0 and isinstance(index, Tensor):\n            raise IndexError(row)",
            )
        ],
        check="test_kinds_of_integers",
        says="int8",
    ),
    Wrong(
        "takes an index in uint8 for a mask",
        edits=[(ROW, "row = index if isinstance(index, Tensor) else operator.index(index)")],
        check="test_kinds_of_integers",
    ),
    Wrong(
        "copies a column of labels that is strided",
        edits=[(LABELS, "self.labels = labels.long().contiguous()")],
        check="test_not_copied",
    ),
    Wrong("labels keep their dtype", edits=[(LABELS, "self.labels = labels")], check="test_labels"),
    Wrong(
        "labels by way of float32",
        edits=[(LABELS, "self.labels = labels.float().long()")],
        check="test_labels",
    ),
    Wrong("labels in int32", edits=[(LABELS, "self.labels = labels.int()")], check="test_labels"),
    Wrong(
        "labels by way of float64",
        edits=[(LABELS, "self.labels = labels.double().long()")],
        check="test_labels",
    ),
    Wrong(
        "tensors only",
        edits=[(CONVERT, "features, labels = features.clone(), labels.clone()")],
        check="test_features",
    ),
    Wrong(
        "NumPy arrays only",
        edits=[(CONVERT, "features, labels = torch.from_numpy(features), torch.from_numpy(labels)")],
        check="test_features",
    ),
    Wrong(
        "views instead of reshaping nothing: contiguous memory expected",
        edits=[(FEATURES, "self.features = features.view(-1).view(features.shape).float()")],
        check="test_features",
    ),
    Wrong(
        "keeps one table for all",
        edits=[
            (FEATURES, "type(self).features = features.float()"),
        ],
        check="test_two_datasets",
    ),
    Wrong(
        "copies the table",
        edits=[(FEATURES, "self.features = features.clone().float()")],
        check="test_not_copied",
        says="the row as it was before",
    ),
    Wrong(
        "torch.tensor, which copies",
        edits=[
            (CONVERT, "features, labels = torch.tensor(np.array(features)), torch.tensor(np.array(labels))")
        ],
        check="test_features",
    ),
    Wrong(
        "copies arrays",
        edits=[
            (
                CONVERT,
                "features, labels = (t if isinstance(t, Tensor) else torch.tensor(t) for t in (features, labels))",
            )
        ],
        check="test_not_copied",
        says="the row as it was before",
    ),
    Wrong(
        "copies the labels",
        edits=[(LABELS, "self.labels = labels.to(torch.int64, copy=True)")],
        check="test_not_copied",
    ),
    Wrong(
        "gives views of the table",
        edits=[(ITEM, "return self.features[row], self.labels[row]")],
        check="test_pairs_are_the_callers",
    ),
    Wrong(
        "gives a view of the label",
        edits=[(ITEM, "return self.features[row].clone(), self.labels[row]")],
        check="test_pairs_are_the_callers",
    ),
    Wrong(
        "detaches, which copies nothing",
        edits=[(ITEM, "return self.features[row].detach(), self.labels[row].detach()")],
        check="test_pairs_are_the_callers",
    ),
    Wrong(
        "pairs kept in a cache",
        edits=[
            (LABELS, "self.cache = {}\n        " + LABELS),
            (
                ITEM,
                "row = row % len(self) if -len(self) <= row < len(self) else row\n        pair = self.features[row].clone(), self.labels[row].clone()\n        return self.cache.setdefault(row, pair)",
            ),
        ],
        check="test_pairs_are_the_callers",
    ),
    Wrong(
        "the label as a number",
        edits=[(ITEM, "return self.features[row].clone(), self.labels[row].item()")],
        check="test_labels",
    ),
    Wrong(
        "a list instead of a pair",
        edits=[(ITEM, "return [self.features[row].clone(), self.labels[row].clone()]")],
        check="test_sizes",
    ),
    Wrong(
        "the label first",
        edits=[(ITEM, "return self.labels[row].clone(), self.features[row].clone()")],
        check="test_sizes",
    ),
    Wrong(
        "a label of one element",
        edits=[(ITEM, "return self.features[row].clone(), self.labels[row].clone().view(1)")],
        check="test_sizes",
    ),
    Wrong(
        "no negative indices",
        edits=[(ROW, ROW + "\n        if not 0 <= row < len(self):\n            raise IndexError(row)")],
        check="test_sizes",
    ),
    Wrong(
        "wraps around",
        edits=[(ROW, "row = operator.index(index) % len(self) if len(self) else operator.index([])")],
        check="test_sizes",
        says="IndexError",
    ),
    Wrong(
        "adds the length to negative ones, and wraps twice",
        edits=[(ROW, ROW + "\n        row = row + len(self) if row < 0 else row")],
        check="test_sizes",
        says="IndexError",
    ),
    Wrong(
        "ValueError for a row that is not there",
        edits=[
            (
                ROW,
                ROW
                + "\n        if not -len(self) <= row < len(self):\n            raise ValueError(f'no row {row}')",
            )
        ],
        check="test_sizes",
        says="IndexError",
    ),
    Wrong(
        "Python integers only",
        edits=[
            (
                ROW,
                "if not isinstance(index, int):\n            raise TypeError(f'no index: {index!r}')\n        row = index",
            )
        ],
        check="test_kinds_of_integers",
    ),
    Wrong(
        "no tensors as indices",
        edits=[
            (
                ROW,
                "if not isinstance(index, (int, np.integer)):\n            raise TypeError(f'no index: {index!r}')\n        row = int(index)",
            )
        ],
        check="test_kinds_of_integers",
    ),
    Wrong("whatever a tensor takes as index", edits=[(ROW, "row = index")], check="test_other_indices"),
    Wrong(
        "a tensor of one element is an index",
        edits=[("if isinstance(index, Tensor) and index.dim() > 0:", "if False:")],
        check="test_other_indices",
    ),
    Wrong(
        "adds the length to a NumPy integer, which overflows",
        edits=[
            (
                ROW,
                "row = index + len(self) if index < 0 else index\n        row = operator.index(row)\n        if not 0 <= row < len(self):\n            raise IndexError(row)",
            )
        ],
        check="test_kinds_of_integers",
    ),
    Wrong(
        "the classic integer dtypes only",
        edits=[
            (
                FLOATS,
                "if labels.dtype not in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):",
            )
        ],
        check="test_labels",
    ),
    Wrong(
        "floats without rows as labels are fine",
        edits=[(FLOATS, "if len(labels) and labels.is_floating_point():")],
        check="test_bad_tables",
    ),
    Wrong("int(), which cuts floats off", edits=[(ROW, "row = int(index)")], check="test_other_indices"),
    Wrong(
        "whole floats are fine",
        edits=[
            (
                ROW,
                "row = int(index) if isinstance(index, float) and index.is_integer() else operator.index(index)",
            )
        ],
        check="test_other_indices",
    ),
    Wrong(
        "lists are fine",
        edits=[
            (
                ROW,
                "if isinstance(index, list):\n            return TabularDataset(self.features[index], self.labels[index])\n        "
                + ROW,
            )
        ],
        check="test_other_indices",
    ),
    Wrong(
        "IndexError for anything odd",
        edits=[
            (
                ROW,
                "try:\n            row = operator.index(index)\n        except TypeError as error:\n            raise IndexError(str(error)) from None",
            )
        ],
        check="test_other_indices",
        says="TypeError",
    ),
    Wrong(
        "a slice gives a pair of tensors",
        edits=instead("            return self.features[index], self.labels[index]\n"),
        check="test_slices",
    ),
    Wrong(
        "a slice gives a list of pairs",
        edits=instead("            return [self[i] for i in range(*index.indices(len(self)))]\n"),
        check="test_slices",
    ),
    Wrong(
        "a Subset",
        edits=instead(
            "            from torch.utils.data import Subset\n\n            return Subset(self, range(*index.indices(len(self))))\n"
        ),
        check="test_slices",
        says="TabularDataset",
    ),
    Wrong(
        "no negative steps",
        edits=instead("            return TabularDataset(self.features[index], self.labels[index])\n"),
        check="test_slices",
    ),
    Wrong(
        "ignores the step",
        edits=instead(
            "            start, stop, _ = index.indices(len(self))\n            return TabularDataset(self.features[start:stop], self.labels[start:stop])\n"
        ),
        check="test_slices",
    ),
    Wrong(
        "flips the rows of a positive step",
        edits=instead(
            "            at = slice(index.start, index.stop, abs(1 if index.step is None else index.step))\n            x, y = self.features[at], self.labels[at]\n            if index.step is not None and index.step < 0:\n                x, y = x.flip(0), y.flip(0)\n            return TabularDataset(x, y)\n"
        ),
        check="test_slices",
    ),
    Wrong(
        "start or 0, stop or the end",
        edits=instead(
            "            rows = range(index.start or 0, min(index.stop or len(self), len(self)), index.step or 1)\n            at = torch.tensor(rows, dtype=torch.int64)\n            return TabularDataset(self.features[at], self.labels[at])\n"
        ),
        check="test_slices",
    ),
    Wrong(
        "copies the rows of each slice",
        edits=[(STEP, "            if False:\n")],
        check="test_slices_copy_no_rows",
    ),
    Wrong(
        "copies slices with a step",
        edits=[(STEP, "            if step == 1:\n")],
        check="test_slices_copy_no_rows",
    ),
    Wrong(
        "a slice of the labels from the start",
        edits=[(FORWARD, FORWARD.replace("self.labels[start:stop:step]", "self.labels[: len(rows)]"))],
        check="test_slices",
    ),
    Wrong(
        "the slice of an empty list fails",
        edits=[("at = torch.tensor(rows, dtype=torch.int64)", "at = torch.tensor(list(rows))")],
        check="test_slices",
    ),
    Wrong(
        "slices forget that they are slices",
        edits=[
            (
                "        self.labels = labels.long()",
                "        self.rows = range(len(labels))\n        self.labels = labels.long()",
            ),
            ("return len(self.labels)", "return len(self.rows)"),
            *instead(
                "            part = TabularDataset(self.features, self.labels)\n            part.rows = range(len(self.labels))[index]\n            return part\n"
            ),
            (ROW, "row = self.rows[operator.index(index)]"),
        ],
        check="test_slices_of_slices",
    ),
    Wrong(
        "cuts itself",
        edits=[
            (
                FORWARD,
                "self.features, self.labels = self.features[start:stop:step], self.labels[start:stop:step]\n                return self",
            )
        ],
        check="test_slices",
    ),
    Wrong(
        "holds a function",
        edits=[
            (LABELS, LABELS + "\n        self.convert = lambda t: t.clone()"),
            (ITEM, "return self.convert(self.features[row]), self.convert(self.labels[row])"),
        ],
        check="test_pickled",
    ),
    Wrong(
        "holds an iterator",
        edits=[(LABELS, LABELS + "\n        self.pairs = zip(self.features, (y for y in self.labels))")],
        check="test_pickled",
    ),
    Wrong(
        "keeps the tables outside, for a small pickle",
        edits=[
            ("class TabularDataset", "_kept: dict = {}\n\n\nclass TabularDataset"),
            (FEATURES, FEATURES.replace("self.features", "_kept[id(self)]")),
            (LABELS, LABELS + "\n        self.key = id(self)"),
            (
                "    def __len__(self)",
                "    @property\n    def features(self):\n        return _kept[self.key]\n\n    def __len__(self)",
            ),
        ],
        check="test_pickled",
        says="KeyError",
    ),
    Wrong(
        "is no Dataset to workers",
        edits=[
            ("class TabularDataset(Dataset):", "class TabularDataset:"),
        ],
        check="test_sizes",
    ),
    Wrong(
        "counts columns",
        edits=[("return len(self.labels)", "return self.features.shape[-1]")],
        check="test_in_a_loader",
    ),
    Wrong(
        "leaves the last row out",
        edits=[("return len(self.labels)", "return max(len(self.labels) - 1, 0)")],
        check="test_in_a_loader",
    ),
    Wrong(
        "the row with the nearest number",
        edits=[(ROW, "row = min(operator.index(index), len(self) - 1)")],
        check="test_an_error_in_a_worker",
    ),
    Wrong("floats as labels are cut off", edits=[(FLOATS, "if False:")], check="test_bad_tables"),
    Wrong(
        "whole floats as labels are fine",
        edits=[(FLOATS, "if labels.is_floating_point() and not torch.equal(labels, labels.trunc()):")],
        check="test_bad_tables",
    ),
    Wrong(
        "compares numbers of elements",
        edits=[(GUARD, "if features.dim() != 2 or len(features) != labels.numel():")],
        check="test_bad_tables",
    ),
    Wrong(
        "takes any features",
        edits=[(GUARD, "if labels.dim() != 1 or features.shape[:1] != labels.shape:")],
        check="test_bad_tables",
    ),
    Wrong(
        "cuts to the shorter",
        edits=[
            (GUARD, "if features.dim() != 2 or labels.dim() != 1:"),
            (
                FEATURES,
                "features = features[: len(labels)]\n        labels = labels[: len(features)]\n        "
                + FEATURES,
            ),
        ],
        check="test_bad_tables",
    ),
    Wrong(
        "asserts",
        edits=[
            (
                GUARD,
                "assert features.dim() == 2 and labels.dim() == 1\n        if len(features) != len(labels):",
            )
        ],
        check="test_bad_tables",
    ),
    Right(
        "indices into one table, converted row by row",
        code="""
import numpy as np
import torch
from torch.utils.data import Dataset


class TabularDataset(Dataset):
    def __init__(self, features, labels, rows=None):
        if isinstance(features, np.ndarray):
            features = torch.from_numpy(features)
        if isinstance(labels, np.ndarray):
            labels = torch.from_numpy(labels)
        if labels.dtype.is_floating_point:
            raise TypeError("labels are whole numbers")
        if features.ndim != 2 or labels.ndim != 1:
            raise ValueError("shapes")
        if features.shape[0] != labels.shape[0]:
            raise ValueError("rows")
        self._x, self._y = features, labels
        self._rows = range(features.shape[0]) if rows is None else rows

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return TabularDataset(self._x, self._y, self._rows[index])
        if isinstance(index, torch.Tensor):
            if index.dim() or index.is_floating_point():
                raise TypeError("not an index")
            index = index.item()
        if not isinstance(index, (int, np.integer)):
            raise TypeError("not an index")
        row = self._rows[index]
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
        if isinstance(features, torch.Tensor):
            features = features.to(torch.float32).numpy()
        if isinstance(labels, torch.Tensor):
            labels = labels.numpy()
        if np.ndim(features) != 2 or np.shape(labels) != np.shape(features)[:1]:
            raise ValueError("the shapes do not fit")
        if labels.dtype.kind not in "iub":
            raise TypeError("labels have to be whole numbers")
        self.table = np.asarray(features, dtype=np.float32)
        self.column = np.asarray(labels, dtype=np.int64)

    def __len__(self):
        return self.column.shape[0]

    def __getitem__(self, index):
        if type(index) is slice:
            part = TabularDataset.__new__(TabularDataset)
            part.table, part.column = self.table[index], self.column[index]
            return part
        if np.ndim(index):
            raise TypeError("one index at a time")
        i, n = operator.index(index), len(self)
        if i < -n or i >= n:
            raise IndexError(f"row {i} of {n}")
        return torch.tensor(self.table[i]), torch.tensor(self.column[i])
""",
    ),
    Wrong(
        "labels of a reversed slice by way of float64",
        edits=[
            (
                "return TabularDataset(self.features[at], self.labels[at])\n",
                "return TabularDataset(self.features[at], self.labels.double()[at].long())\n",
            )
        ],
        check="test_labels",
    ),
    Wrong(
        "converts when it is sliced",
        edits=[
            (FEATURES, "self.features = features"),
            (
                FORWARD,
                "return TabularDataset(self.features[start:stop:step].float(), self.labels[start:stop:step])",
            ),
            (ITEM, "return self.features[row].to(torch.float32, copy=True), self.labels[row].clone()"),
        ],
        check="test_slices_copy_no_rows",
        says="copies rows",
    ),
    Wrong(
        "converts the whole table for each row",
        edits=[
            (FEATURES, "self.features = features"),
            (LABELS, "self.labels = labels"),
            (ITEM, "return self.features.float()[row].clone(), self.labels.long()[row].clone()"),
        ],
        check="test_a_row_alone",
        says="copies more than its row",
    ),
    Wrong(
        "converts each row, which copies none that is float32",
        edits=[(ITEM, "return self.features[row].to(torch.float32), self.labels[row].clone()")],
        check="test_pairs_are_the_callers",
        says="a pair from before",
    ),
    Wrong(
        "a slice copies its labels",
        edits=[(FORWARD, FORWARD.replace("self.labels[start:stop:step]", "self.labels[torch.tensor(rows)]"))],
        check="test_not_copied",
        says="data[1:][::3][1]",
    ),
    Wrong(
        "keeps each row that it has converted once",
        edits=[
            (
                ITEM,
                "kept = self.__dict__.setdefault('kept', {})\n"
                "        if row not in kept:\n"
                "            kept[row] = self.features[row].clone()\n"
                "        return kept[row].clone(), self.labels[row].clone()",
            )
        ],
        check="test_not_copied",
        says="written into since",
    ),
    Wrong(
        "brings an integer tensor to int32 first, for the types without comparisons",
        edits=[
            (
                "        " + ROW,
                "        if isinstance(index, Tensor) and not index.is_floating_point():\n"
                "            index = index.to(torch.int32)\n"
                "        " + ROW,
            )
        ],
        check="test_kinds_of_integers",
        says="4294967297",
    ),
]
