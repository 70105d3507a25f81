"""A sum in bfloat16 stops growing.

Before training, a language model's activations are normalised with the mean of each feature over a whole
corpus, which comes in batches of bfloat16 or float16:

    batches = [torch.tensor([[1.0, 3.0], [2.0, 3.0]]).bfloat16(), torch.tensor([[6.0, 3.0]]).bfloat16()]
    feature_means(batches)                             # [3.0, 3.0] in float32: 9 and 9 over 3 rows

The code below is right for these, and wrong for a corpus. After 10,000 batches of one row of ones the means
are 0.0256: in bfloat16 256 + 1 is 256, and there the sum stalls. In float16 it stalls at 2048, or, where the
numbers are larger, runs over at 65504: the means are inf. And every batch sum is rounded before it is added.

Rules:
- Each batch is (rows, features), with any number of rows, also none. The mean is over all rows of all
  batches.
- The result is (features,), in memory of its own. Batches in float16, bfloat16 and float32 are added in
  float32, and the result is float32, whatever PyTorch's default dtype is: nothing is rounded to 16 bits,
  neither the sum of one batch, nor the total, nor the result.
  Batches in float64 are added in float64 and give float64. All batches have the same dtype, and all sums
  stay below 1e37, so that float32 holds them.
- With N rows in all, the error is at most N · eps times the mean of the sizes |x|, with the eps of the dtype
  of the result: N additions one after the other lose no more than that. This holds for numbers as small as
  float16's subnormals as well. A feature in which inf or NaN occurs has a mean of inf or NaN.
- batches may be any iterable, also a generator, and is run through once. There are too many to be held: when
  a batch is asked for, at most the one before it is still held.
- No batch is changed. They carry no graph. No Python loop over rows or features. The result lies on the
  device of the batches, and no number is copied between there and the CPU.

Bad input: no batches, or none with a row, raises ValueError.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def feature_means(batches: Iterable[Float[Tensor, "rows features"]]) -> Float[Tensor, "features"]:
    """The mean of each feature over all rows of all batches.

    Args:
        batches: activations, each (rows, features).

    Returns:
        The means, (features,), in float32, or in float64 where the batches are.

    Raises:
        ValueError: there is no row.
    """
    total, count = None, 0
    for x in batches:
        wide = torch.promote_types(x.dtype, torch.float32)
        batch_sum = x.sum(0, dtype=wide)  # (features,), without a wide copy of the batch
        total = batch_sum if total is None else total + batch_sum
        count += len(x)
    if total is None or count == 0:
        raise ValueError("there is no row to take the mean of")
    return total / count  # (features,)
