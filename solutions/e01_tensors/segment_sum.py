import math

import torch
from jaxtyping import Float, Int64
from torch import Tensor


def segment_sum(
    x: Float[Tensor, "rows *features"], ids: Int64[Tensor, "rows"], segments: int
) -> Float[Tensor, "segments *features"]:
    wide = torch.promote_types(x.dtype, torch.float32)  # half would round at each addition
    sums = x.new_zeros(segments, *x.shape[1:], dtype=wide)
    return sums.index_add(0, ids, x.to(wide)).to(x.dtype)  # (segments, *features)


def segment_count(ids: Int64[Tensor, "rows"], segments: int) -> Int64[Tensor, "segments"]:
    ones = torch.ones_like(ids, dtype=torch.int64)
    return ones.new_zeros(segments).index_add(0, ids, ones)  # bincount lets ids of any size in


def segment_max(
    x: Float[Tensor, "rows *features"], ids: Int64[Tensor, "rows"], segments: int
) -> Float[Tensor, "segments *features"]:
    lowest = x.new_full((segments, *x.shape[1:]), -math.inf)
    place = ids.view(-1, *[1] * (x.dim() - 1)).expand(x.shape)  # scatter takes an index for each number
    return lowest.scatter_reduce(0, place, x, "amax")  # (segments, *features)
