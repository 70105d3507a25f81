import torch
from jaxtyping import Float
from torch import Tensor


def pairwise_distances(a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    wide = torch.promote_types(a.dtype, torch.float32)
    origin = b.detach().to(wide).mean(0)  # (d,): near it squares are small, and lose no digits
    p, q = a.to(wide) - origin, b.to(wide) - origin
    squares = p.square().sum(1, keepdim=True) + q.square().sum(1) - 2 * p @ q.T  # (n, m)
    equal = squares <= 0  # rounding may bring it below 0
    return squares.masked_fill(equal, 1).sqrt().masked_fill(equal, 0).to(a.dtype)  # sqrt has no slope at 0
