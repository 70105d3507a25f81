"""Scale a table without a look at the test set.

A table's columns are shifted and scaled, so that a network sees numbers around 0. Mean and standard deviation come
from the rows that it trains on. Here the last row is held out:

    table = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, math.nan], [99.0, 14.0]])
    prepared = prepare(table, test=torch.tensor([False, False, False, True]))
    prepared.mean     # [3, 10]
    prepared.std      # [1.6330, 1]: sqrt(8 / 3); the other column does not vary and is not scaled
    prepared.train    # [[-1.2247, 0], [0, 0], [1.2247, 0]]: the missing number becomes 0, the mean
    prepared.test     # [[58.7878, 4]]

With the code below the test row comes out tame: 1.73 in place of 58.8. One missing number makes its column NaN.

- A test row has no influence on mean, std and train.
- NaN is a missing number: it counts nowhere, and becomes 0 in train and test.
- std divides by the count of numbers. Where they are all the same, it is 1.
- `scale` does this to later rows, with the mean and std given.

Fine print:
- A column without any number to train on has mean 0 and std 1.
- Where all numbers are the same, 0.1 seven times, say, mean is exactly this number, and train exactly 0. A column of tiny
  numbers, such as 1e-10, is scaled like any other.
- mean and std are float64, and everything is computed in float64; train and test have the dtype of the table.
- Infinities in test rows stay what they are. scale takes one row, or many with more dimensions in front.
- Nothing that is passed in is changed; no result shares its memory.
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
    """Shift and scale rows by statistics that are known; NaN is a missing number."""
    return (rows - mean) / std


def prepare(table: Float[Tensor, "rows columns"], test: Bool[Tensor, "rows"]) -> Prepared:
    """Split a table, and scale both parts by the statistics of the training rows."""
    mean = table.mean(0)
    std = table.std(0, correction=0)
    scaled = scale(table, mean, std)
    return Prepared(scaled[~test], scaled[test], mean, std)
