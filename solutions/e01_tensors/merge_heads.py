from jaxtyping import Shaped
from torch import Tensor


def merge_heads(x: Shaped[Tensor, "batch heads time dim"]) -> Shaped[Tensor, "batch time heads*dim"]:
    batch, heads, time, dim = x.shape
    side_by_side = x.transpose(1, 2)  # (batch, time, heads, dim)
    return side_by_side.reshape(batch, time, heads * dim)  # a view where strides allow it
