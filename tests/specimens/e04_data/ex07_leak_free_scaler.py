"""Answers to leak_free_scaler that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TRAIN = "    train = table[~test]\n"
KNOWN = "    known = ~train.isnan()  # (train, columns)\n"
COUNT = "    count = known.sum(0).clamp(min=1)  # (columns,)\n"
NUMBERS = "    numbers = train.double().masked_fill(~known, 0.0)\n"
MEAN = "    mean = torch.where(least == most, least, numbers.sum(0) / count)\n"
OFF = "    off = (numbers - mean).masked_fill(~known, 0.0)\n"
STD = "    std = (off.square().sum(0) / count).sqrt()\n"
ONE = "    std = torch.where(least < most, std, 1.0)  # no number: least is inf, most is -inf\n"
RETURN = "    return Prepared(scale(train, mean, std), scale(table[test], mean, std), mean, std)\n"
SCALED = "    scaled = (rows.double() - mean) / std  # (*batch, columns)\n"
FILLED = "    return scaled.masked_fill(rows.isnan(), 0.0).to(rows.dtype)\n"
MASK = "    if test.dtype != torch.bool or test.shape != table.shape[:1]:\n"
SIGNATURE_TABLE = "    if test.dtype"

SPECIMENS = [
    Wrong(
        "statistics of the whole table",
        edits=[
            (TRAIN, "    train = table\n"),
            (RETURN, RETURN.replace("scale(train,", "scale(table[~test],")),
        ],
        rung="job",
        check="test_any_split",
        says="the test rows have a say",
    ),
    Wrong(
        "the test rows by their own statistics",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "scale(table[test], mean, std)",
                    "(prepare(table[test], test[test] & False).train if test.any() else table[test])",
                ),
            )
        ],
        rung="job",
        check="test_any_split",
    ),
    Wrong(
        "divides by one less",
        edits=[(STD, "    std = (off.square().sum(0) / (count - 1).clamp(min=1)).sqrt()\n")],
        rung="job",
        check="test_any_split",
        says="one less",
    ),
    Wrong(
        "missing numbers count as 0",
        edits=[
            (KNOWN, "    known = torch.ones_like(train, dtype=torch.bool)\n"),
            (NUMBERS, "    numbers = train.double().nan_to_num(0.0)\n"),
            ("    least = train.double()", "    least = numbers"),
            ("    most = train.double()", "    most = numbers"),
        ],
        rung="job",
        check="test_missing_numbers",
        says="count as 0",
    ),
    Wrong(
        "rows with a missing number are left out",
        edits=[
            (KNOWN, "    whole = ~train.isnan().any(1, keepdim=True)\n    known = whole.expand_as(train)\n"),
            ("    least = train", "    train = table[~test]\n    least = train"),
        ],
        rung="job",
        check="test_missing_numbers",
        says="are left out",
    ),
    Wrong(
        "missing numbers stay missing",
        edits=[(FILLED, "    return scaled.to(rows.dtype)\n")],
        rung="job",
        check="test_missing_numbers",
        says="NaN",
    ),
    Wrong(
        "missing numbers become 0 before the scaling",
        edits=[
            (SCALED, SCALED.replace("rows.double()", "rows.double().nan_to_num(0.0)")),
            (FILLED, "    return scaled.to(rows.dtype)\n"),
        ],
        rung="job",
        check="test_missing_numbers",
    ),
    Wrong(
        "clips the test rows to the training range",
        edits=[
            (
                RETURN,
                RETURN.replace(
                    "scale(table[test], mean, std)",
                    "scale(table[test].clamp(least.to(table.dtype), most.to(table.dtype)), mean, std)",
                ),
            )
        ],
        rung="job",
        check="test_any_split",
    ),
    Wrong(
        "the mask the other way round",
        edits=[(TRAIN, "    test = ~test if not test.all() and test.any() else test\n" + TRAIN)],
        rung="job",
        check="test_any_split",
    ),
    Wrong(
        "a column without numbers is NaN",
        edits=[(COUNT, "    count = known.sum(0)\n")],
        rung="fine",
        check="test_a_column_without_numbers",
    ),
    Wrong(
        "compares the deviation with 0",
        edits=[
            (MEAN, "    mean = numbers.sum(0) / count\n"),
            (ONE, "    std = torch.where(std > 0, std, 1.0)\n"),
        ],
        rung="fine",
        check="test_columns_of_one_number",
    ),
    Wrong(
        "a little added to the deviation",
        edits=[(ONE, ONE + "    std = std + 1e-8\n")],
        rung="fine",
        check="test_tiny_numbers",
    ),
    Wrong(
        "statistics in the table's dtype at the end",
        edits=[(RETURN, RETURN.replace("mean, std)\n", "mean.to(table.dtype), std.to(table.dtype))\n"))],
        rung="fine",
        check="test_dtypes",
        says="float64",
    ),
    Wrong(
        "infinities become large numbers",
        edits=[(FILLED, "    return scaled.nan_to_num(0.0).to(rows.dtype)\n")],
        rung="fine",
        check="test_infinities_and_more_dimensions",
    ),
    Wrong(
        "scales float64 rows in place",
        edits=[(SCALED, "    scaled = rows.double().sub_(mean).div_(std).clone()\n")],
        rung="fine",
        check="test_inputs_are_left_alone",
    ),
    Wrong(
        "fills the table",
        edits=[(TRAIN, "    table[table.isnan()] = 0.0\n" + TRAIN)],
        rung="fine",
        check="test_inputs_are_left_alone",
        says="changes",
    ),
    Wrong(
        "takes any mask of the right length",
        edits=[(MASK, "    test = test if test.dtype == torch.bool else test > 0\n" + MASK)],
        rung="fine",
        check="test_bad_masks",
    ),
    Works(
        "nanmean, and a standard deviation of 1 where it is 0",
        code="""
from typing import NamedTuple

import torch


class Prepared(NamedTuple):
    train: torch.Tensor
    test: torch.Tensor
    mean: torch.Tensor
    std: torch.Tensor


def scale(rows, mean, std):
    return torch.nan_to_num((rows - mean) / std, nan=0.0)


def prepare(table, test):
    train = table[~test]
    mean = train.nanmean(dim=0)
    std = ((train - mean) ** 2).nanmean(dim=0).sqrt()
    std[std == 0] = 1.0
    return Prepared(scale(train, mean, std), scale(table[test], mean, std), mean, std)
""",
    ),
    Works(
        "column by column, with masks",
        code="""
from typing import NamedTuple

import torch


class Prepared(NamedTuple):
    train: torch.Tensor
    test: torch.Tensor
    mean: torch.Tensor
    std: torch.Tensor


def scale(rows, mean, std):
    out = (rows - mean) / std
    out[torch.isnan(out)] = 0
    return out


def prepare(table, test):
    means, stds = [], []
    for column in table[~test].T:
        values = column[~column.isnan()]
        m, s = values.mean(), values.std(unbiased=False)
        means.append(m)
        stds.append(s if s > 0 else torch.tensor(1.0))
    mean, std = torch.stack(means), torch.stack(stds)
    return Prepared(scale(table[~test], mean, std), scale(table[test], mean, std), mean, std)
""",
    ),
    Right(
        "NumPy's functions for missing numbers",
        edits=[
            ("import torch\n", "import warnings\n\nimport numpy as np\nimport torch\n"),
            (KNOWN + COUNT + NUMBERS, "    rows = train.double().numpy()\n"),
            (
                "    least = train.double().masked_fill(~known, torch.inf).amin(0)\n    most = train.double().masked_fill(~known, -torch.inf).amax(0)\n",
                "",
            ),
            (
                MEAN + OFF + STD + ONE,
                """    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = np.nanmedian(rows, axis=0)
        same = ((rows == first) | np.isnan(rows)).all(axis=0)
        mean = torch.from_numpy(np.nan_to_num(np.where(same, first, np.nanmean(rows, axis=0))))
        std = torch.from_numpy(np.where(same, 1.0, np.nanstd(rows, axis=0)))
""",
            ),
            (
                "    # A computed mean may be off by a rounding error, which a computed std of nearly 0 would blow up.\n",
                "",
            ),
        ],
    ),
    Right(
        "column by column",
        edits=[
            (
                SCALED + FILLED,
                """    parts = [((rows[..., j].double() - mean[j]) / std[j]).nan_to_num(0.0, float("inf"), float("-inf")) for j in range(len(mean))]
    return torch.stack(parts, -1).to(rows.dtype) if parts else rows.clone()
""",
            ),
            (
                MEAN + OFF + STD + ONE,
                """    mean, std = torch.zeros(table.shape[1]).double(), torch.ones(table.shape[1]).double()
    for j in range(table.shape[1]):
        column = train[:, j].double()
        column = column[column == column]
        if len(column):
            mean[j] = column[0] + (column - column[0]).mean()
            std[j] = (column - mean[j]).square().mean().sqrt() if (column != column[0]).any() else 1.0
""",
            ),
        ],
    ),
]
