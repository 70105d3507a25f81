from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def feature_means(batches: Iterable[Float[Tensor, "rows features"]]) -> Float[Tensor, "features"]:
    total, count = None, 0
    for x in batches:
        wide = torch.promote_types(x.dtype, torch.float32)
        batch_sum = x.sum(0, dtype=wide)  # (features,), without a wide copy of the batch
        total = batch_sum if total is None else total + batch_sum
        count += len(x)
    if total is None or count == 0:
        raise ValueError("there is no row to take the mean of")
    return total / count  # (features,)
