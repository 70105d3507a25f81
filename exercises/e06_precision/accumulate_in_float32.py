"""A sum in bfloat16 stops growing.

Before training, activations are normalised with the mean of each feature over a whole corpus, which comes in batches of
bfloat16 or float16:

    batches = [torch.tensor([[1.0, 300.0], [2.0, 1.0]]).bfloat16(), torch.tensor([[7.0, 2.0]]).bfloat16()]
    feature_means(batches)                      # [3.3333, 101.0] in float32: 10 and 303 over 3 rows

The code below is wrong for a corpus. After 10,000 batches of one row of ones it gives 0.0256: in bfloat16 256 + 1 is
256, and there the sum stalls. In float16 it stalls at 2048, and 65504 is the largest number. Mend it.

- All is added in float32, and the result is float32. Nothing is rounded to 16 bits: no batch's sum, no total, no mean.
- Every row counts the same; batches may differ in rows, and may come from a generator.

Fine print:
- Batches in float64 are added in float64 and give float64.
- Batches without rows count for nothing. ValueError where there is no row at all.
- A corpus does not fit into memory: when a batch is asked for, at most the one before it is still held.
- No Python loop over rows or features; no batch is changed.
- The result is on the batches' device, and nothing is copied between it and the CPU.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def feature_means(batches: Iterable[Float[Tensor, "rows features"]]) -> Float[Tensor, "features"]:
    """The mean of each feature over all rows of all batches, in float32 (or float64)."""
    total, count = None, 0
    for x in batches:
        batch_sum = x.sum(0)  # (features,)
        total = batch_sum if total is None else total + batch_sum
        count += len(x)
    if total is None or count == 0:
        raise ValueError("there is no row to take the mean of")
    return total / count  # (features,)
