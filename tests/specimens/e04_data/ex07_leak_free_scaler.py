"""Answers to leak_free_scaler that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "zeros by hand where the computed mean is a little off",
        edits=[
            (MEAN, "    mean = numbers.sum(0) / count\n"),
            (
                RETURN,
                RETURN.replace(
                    "scale(train, mean, std)", "scale(train, mean, std).masked_fill(least == most, 0.0)"
                ),
            ),
        ],
        check="test_columns_that_do_not_vary",
        says="mean of columns that hold one number",
    ),
    Wrong(
        "numbers that are nearly the same are taken for the same",
        edits=[
            (
                ONE,
                ONE.replace("least < most", "most - least > 1e-12 * torch.maximum(most.abs(), least.abs())"),
            )
        ],
        check="test_digits",
        says="differ by 1e-9",
    ),
    Wrong(
        "rows that need no scaling are handed back",
        edits=[
            (
                SCALED,
                "    if not mean.any() and (std == 1).all() and not rows.isnan().any():\n        return rows\n"
                + SCALED,
            )
        ],
        check="test_inputs_are_left_alone",
    ),
    Wrong(
        "scales float64 rows in place",
        edits=[(SCALED, "    scaled = rows.double().sub_(mean).div_(std).clone()\n")],
        check="test_inputs_are_left_alone",
    ),
    Wrong(
        "statistics of the whole table",
        edits=[
            (TRAIN, "    train = table\n"),
            (RETURN, RETURN.replace("scale(train,", "scale(table[~test],")),
        ],
        check="test_any_split",
        says="std",
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
        check="test_any_split",
        says="test",
    ),
    Wrong(
        "missing numbers are filled before the split",
        edits=[
            (
                KNOWN,
                "    whole = table.double().nanmean(0).nan_to_num(0.0).to(table.dtype)\n    train = torch.where(train.isnan(), whole, train)\n"
                + KNOWN,
            )
        ],
        check="test_no_leak",
    ),
    Wrong(
        "the spread of the whole table for a guard",
        edits=[
            (
                ONE,
                "    whole = table.double()\n    std = torch.where((whole == whole[:1]).all(0), 1.0, std).clamp(min=1e-30)\n",
            )
        ],
        check="test_columns_that_do_not_vary",
    ),
    Wrong(
        "test rows multiplied by 0",
        edits=[
            (
                NUMBERS,
                "    numbers = train.double().masked_fill(~known, 0.0) + 0 * table[test].double().sum(0)\n",
            )
        ],
        check="test_no_leak",
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
        check="test_any_split",
        says="test",
    ),
    Wrong(
        "infinities become large numbers",
        edits=[(FILLED, "    return scaled.nan_to_num(0.0).to(rows.dtype)\n")],
        check="test_later_rows",
    ),
    Wrong(
        "divides by one less",
        edits=[(STD, "    std = (off.square().sum(0) / (count - 1).clamp(min=1)).sqrt()\n")],
        check="test_any_split",
        says="std",
    ),
    Wrong(
        "divides by the number of rows",
        edits=[(COUNT, "    count = len(train)\n")],
        check="test_missing_numbers",
    ),
    Wrong(
        "the variance for the deviation", edits=[(STD, STD.replace(".sqrt()", ""))], check="test_any_split"
    ),
    Wrong(
        "missing numbers count as 0",
        edits=[
            (KNOWN, "    known = torch.ones_like(train, dtype=torch.bool)\n"),
            (NUMBERS, "    numbers = train.double().nan_to_num(0.0)\n"),
            ("    least = train.double()", "    least = numbers"),
            ("    most = train.double()", "    most = numbers"),
        ],
        check="test_missing_numbers",
    ),
    Wrong(
        "rows with a missing number are left out",
        edits=[
            (KNOWN, "    whole = ~train.isnan().any(1, keepdim=True)\n    known = whole.expand_as(train)\n"),
            ("    least = train", "    train = table[~test]\n    least = train"),
        ],
        check="test_missing_numbers",
    ),
    Wrong(
        "missing numbers stay missing",
        edits=[(FILLED, "    return scaled.to(rows.dtype)\n")],
        check="test_missing_numbers",
        says="NaN",
    ),
    Wrong(
        "missing numbers become 0 before the scaling",
        edits=[
            (SCALED, SCALED.replace("rows.double()", "rows.double().nan_to_num(0.0)")),
            (FILLED, "    return scaled.to(rows.dtype)\n"),
        ],
        check="test_missing_numbers",
    ),
    Wrong(
        "a column without numbers is NaN",
        edits=[(COUNT, "    count = known.sum(0)\n")],
        check="test_missing_numbers",
    ),
    Wrong(
        "compares the deviation with 0",
        edits=[
            (MEAN, "    mean = numbers.sum(0) / count\n"),
            (ONE, "    std = torch.where(std > 0, std, 1.0)\n"),
        ],
        check="test_columns_that_do_not_vary",
    ),
    Wrong(
        "a column that does not vary, less a mean that is not quite it",
        edits=[(MEAN, "    mean = numbers.sum(0) / count\n")],
        check="test_columns_that_do_not_vary",
        says="train",
    ),
    Wrong(
        "a little added to the deviation",
        edits=[(ONE, ONE + "    std = std + 1e-8\n")],
        check="test_small_numbers",
    ),
    Wrong(
        "small deviations count as none",
        edits=[(ONE, ONE + "    std = torch.where(std > 1e-12, std, 1.0)\n")],
        check="test_small_numbers",
    ),
    Wrong(
        "deviations that are small for their column count as none",
        edits=[(ONE, ONE + "    std = torch.where(std > 1e-6 * mean.abs(), std, 1.0)\n")],
        check="test_small_numbers",
    ),
    Wrong(
        "the mean of squares less the square of the mean",
        edits=[(STD, "    std = (numbers.square().sum(0) / count - mean.square()).clamp(min=0).sqrt()\n")],
        check="test_digits",
    ),
    Wrong(
        "statistics in the table's dtype",
        edits=[
            (NUMBERS, "    numbers = train.masked_fill(~known, 0.0)\n"),
            (RETURN, "    mean, std = mean.double(), std.double()\n" + RETURN),
            ("    least = train.double()", "    least = train"),
            ("    most = train.double()", "    most = train"),
        ],
        check="test_digits",
    ),
    Wrong(
        "statistics in float32",
        edits=[
            (NUMBERS, NUMBERS.replace("double", "float")),
            ("    least = train.double()", "    least = train.float()"),
            ("    most = train.double()", "    most = train.float()"),
            (RETURN, "    mean, std = mean.double(), std.double()\n" + RETURN),
        ],
        check="test_digits",
    ),
    Wrong(
        "scales in the table's dtype",
        edits=[
            (
                SCALED,
                SCALED.replace(
                    "rows.double() - mean) / std", "rows - mean.to(rows.dtype)) / std.to(rows.dtype)"
                ),
            )
        ],
        check="test_digits",
    ),
    Wrong(
        "statistics in the table's dtype at the end",
        edits=[(RETURN, RETURN.replace("mean, std)\n", "mean.to(table.dtype), std.to(table.dtype))\n"))],
        check="test_any_split",
        says="float64",
    ),
    Wrong(
        "scaled rows in float64", edits=[(FILLED, FILLED.replace(".to(rows.dtype)", ""))], check="test_dtypes"
    ),
    Wrong(
        "views, which must be contiguous",
        edits=[(MASK, "    table.view(-1)\n" + MASK)],
        check="test_strided_tables",
    ),
    Wrong(
        "fills the table",
        edits=[(TRAIN, "    table[table.isnan()] = 0.0\n" + TRAIN)],
        check="test_inputs_are_left_alone",
        says="changes",
    ),
    Wrong(
        "scales later rows in place",
        edits=[
            (
                SCALED,
                "    missing = rows.isnan()\n    scaled = rows.sub_(mean.to(rows.dtype)).div_(std.to(rows.dtype))\n",
            ),
            (FILLED, "    return scaled.masked_fill_(missing, 0.0)\n"),
        ],
        check="test_inputs_are_left_alone",
    ),
    Wrong(
        "later rows by their own statistics",
        edits=[
            (
                SCALED,
                "    if rows.dim() > 1 and len(rows) > 1:\n        mean, std = rows.double().nanmean(0), rows.double().std(0)\n"
                + SCALED,
            ),
            (
                RETURN,
                "    whole = torch.cat([scale(row[None], mean, std) for row in table]) if len(table) else table\n    return Prepared(whole[~test], whole[test], mean, std)\n",
            ),
        ],
        check="test_later_rows",
    ),
    Wrong(
        "tables only, no single row",
        edits=[(SCALED, "    assert rows.dim() == 2\n" + SCALED)],
        check="test_later_rows",
    ),
    Wrong(
        "needs two training rows",
        edits=[(TRAIN, TRAIN + '    if len(train) < 2:\n        raise ValueError("too few rows")\n')],
        check="test_few_rows_and_columns",
    ),
    Wrong(
        "needs a test row",
        edits=[(TRAIN, TRAIN + '    if not test.any():\n        raise ValueError("no test row")\n')],
        check="test_few_rows_and_columns",
    ),
    Wrong(
        "takes any mask of the right length",
        edits=[(MASK, "    test = test if test.dtype == torch.bool else test > 0\n" + MASK)],
        check="test_bad_masks",
    ),
    Wrong("looks at no mask", edits=[(MASK, "    if False:\n")], check="test_bad_masks"),
    Wrong(
        "NaN where all is held out",
        edits=[("    if test.all():\n", "    if False:\n")],
        check="test_bad_masks",
    ),
    Wrong(
        "the mask the other way round",
        edits=[(TRAIN, "    test = ~test if not test.all() and test.any() else test\n" + TRAIN)],
        check="test_any_split",
    ),
    Wrong(
        "an exception of another kind",
        edits=[('raise ValueError("there is no row', 'raise AssertionError("there is no row')],
        check="test_bad_masks",
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
    Wrong(
        "takes bytes for bools",
        edits=[
            (
                SIGNATURE_TABLE,
                "    test = test.bool() if test.dtype == torch.uint8 else test\n    if test.dtype",
            )
        ],
        check="test_bad_masks",
        says="bytes",
    ),
    Wrong(
        "statistics along the wrong axis for three dimensions",
        edits=[
            (
                SCALED,
                "    if rows.dim() == 3 and rows.shape[1] == len(mean):\n        mean, std = mean[:, None], std[:, None]\n    scaled = (rows.double() - mean) / std\n",
            )
        ],
        check="test_later_rows",
    ),
    Wrong(
        "zeros count as missing",
        edits=[(KNOWN, "    known = train.nan_to_num() != 0\n")],
        check="test_missing_numbers",
    ),
    Wrong(
        "scales the training rows in place, which are a view where they come first",
        edits=[
            (
                TRAIN,
                "    first = int((~test).sum())\n    train = table[~test] if test[:first].any() else table[:first]\n",
            ),
            (
                RETURN,
                """    scaled = train.double().sub_(mean).div_(std).masked_fill_(~known, 0.0).to(table.dtype)
    return Prepared(scaled, scale(table[test], mean, std), mean, std)
""",
            ),
        ],
        check="test_inputs_are_left_alone",
        says="without row 5",
    ),
    Wrong(
        "one multiplication and one subtraction, whose digits cancel",
        edits=[(SCALED, "    scaled = rows.double() * (1 / std) - mean / std\n")],
        check="test_later_rows",
    ),
    Wrong(
        "takes a column for constant where all numbers are those of the first training row",
        edits=[
            (
                MEAN,
                "    same = (~known | (train == train[0])).all(0) & known[0]\n"
                "    mean = torch.where(same, train[0].double(), numbers.sum(0) / count)\n",
            ),
            (ONE, "    std = torch.where(same | (std == 0), 1.0, std)\n"),
        ],
        check="test_columns_that_do_not_vary",
        says="a missing number at 0",
    ),
    Wrong(
        "a threshold below which a deviation is taken for none",
        edits=[(ONE, "    std = torch.where((least < most) & (std > 1e-25), std, 1.0)\n")],
        check="test_small_numbers",
    ),
    Wrong(
        "a threshold far below the numbers' own size",
        edits=[(ONE, "    std = torch.where((least < most) & (std > 1e-30), std, 1.0)\n")],
        check="test_small_numbers",
    ),
    Wrong(
        "no columns are dealt with before the mask is looked at in full",
        edits=[
            (
                "    if test.all():\n",
                "    if table.shape[1] == 0:\n"
                "        none = torch.zeros(0, dtype=torch.float64)\n"
                "        return Prepared(table[~test], table[test], none, none)\n"
                "    if test.all():\n",
            )
        ],
        check="test_bad_masks",
        says="without columns",
    ),
    Wrong(
        "the variance as a difference, after a shift by the first row, where a missing number counts as 0",
        edits=[
            (STD, STD.replace("off.square().sum(0) / count", "spread")),
            (
                OFF,
                "    shifted = (numbers - numbers[0]).masked_fill(~known, 0.0)\n"
                "    spread = shifted.square().sum(0) / count - (shifted.sum(0) / count).square()\n"
                "    spread = spread.clamp(min=0.0)\n",
            ),
        ],
        check="test_digits",
        says="the first one missing",
    ),
    Wrong(
        "counts rows in the dtype of the table",
        edits=[(COUNT, "    count = known.to(table.dtype).sum(0).clamp(min=1)\n")],
        check="test_dtypes",
        says="301 training rows",
    ),
    Wrong(
        "fills the gaps of a few rows only, where there are more dimensions",
        edits=[
            (
                FILLED,
                "    for j in range(rows.shape[-1]):\n"
                "        column = scaled[j] if rows.dim() == 1 else scaled[:, j : j + 1]\n"
                "        column[column.isnan()] = 0.0\n"
                "    return scaled.to(rows.dtype)\n",
            )
        ],
        check="test_later_rows",
    ),
]
