"""Scale a table without a look at the test set.

The columns of a table of measurements are shifted and scaled, so that a network sees numbers around 0. The
statistics are part of the model: they come from the rows that it trains on. Here the last row is held out:

    table = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, math.nan], [99.0, 14.0]])
    prepared = prepare(table, test=torch.tensor([False, False, False, True]))
    prepared.mean     # [3, 10]
    prepared.std      # [1.6330, 1]: sqrt(8 / 3); the other column does not vary and is not scaled
    prepared.train    # [[-1.2247, 0], [0, 0], [1.2247, 0]]: the missing number becomes 0, the mean
    prepared.test     # [[58.7878, 4]]

With the code below the test row, however odd, comes out tame: 1.73 in place of 58.8. The scores on the test
set look fine, and the model fails on the first day. One missing number makes its column NaN, everywhere.

Rules:
- Nothing in a test row has any influence on mean, std or train: not its size, not NaN, not inf.
- NaN is a missing number. mean and std of a column are those of its numbers in the training rows that are not
  missing; std divides by their count, not by one less. A column with no such number has mean 0 and std 1.
- Where all these numbers of a column are the same (also a single one, or 0.1 again and again, whose computed
  mean is not quite 0.1), mean is exactly this number and std is 1, so that the scaled training numbers are
  exactly 0. Any other column is scaled, however small it is: down to values of size 1e-20.
- The scaled number is (number - mean) / std, in train and in test, by the same mean and std. A missing number
  becomes 0 in both. Infinities in the test rows stay what they are.
- mean and std are float64, and everything is computed in float64: columns such as 1e6 plus a little keep
  their digits. train and test have the dtype of the table, which may be any floating one.
- train holds the rows with test False, test those with True, both in the order of the table. There may be no
  test rows, and no columns: the shapes are then (0, columns) and (rows, 0).
- scale does the same to rows that come later, one or many, alone: with the mean and std given, never with
  their own. Nothing that is passed in is changed; results share no memory with it.
- ValueError if test does not hold one bool for each row, or if all rows are test rows.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor


class Prepared(NamedTuple):
    """The scaled rows of both kinds, and what they were scaled by."""

    train: Float[Tensor, "train columns"]
    test: Float[Tensor, "test columns"]
    mean: Float64[Tensor, "columns"]
    std: Float64[Tensor, "columns"]


def scale(
    rows: Float[Tensor, "*batch columns"], mean: Float64[Tensor, "columns"], std: Float64[Tensor, "columns"]
) -> Float[Tensor, "*batch columns"]:
    """Shift and scale rows by statistics that are known.

    Args:
        rows: (*batch, columns), with NaN for missing numbers.
        mean: (columns,), subtracted.
        std: (columns,), divided by.

    Returns:
        (*batch, columns), in the dtype of `rows`.
    """
    return (rows - mean) / std


def prepare(table: Float[Tensor, "rows columns"], test: Bool[Tensor, "rows"]) -> Prepared:
    """Split a table and scale both parts by the statistics of the training rows.

    Args:
        table: (rows, columns), with NaN for missing numbers.
        test: (rows,), True for the rows that are held out.

    Returns:
        The scaled training rows and test rows, the mean and the standard deviation of each column.

    Raises:
        ValueError: `test` does not fit the table, or leaves no row to train on.
    """
    mean = table.mean(0)
    std = table.std(0, correction=0)
    scaled = scale(table, mean, std)
    return Prepared(scaled[~test], scaled[test], mean, std)
