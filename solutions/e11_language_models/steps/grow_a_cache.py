import torch
from jaxtyping import Float
from torch import Tensor


def grow_a_cache(
    cache: Float[Tensor, "batch heads time dim"] | None, new: Float[Tensor, "batch heads more dim"]
) -> Float[Tensor, "batch heads longer dim"]:
    return new if cache is None else torch.cat([cache, new], dim=2)  # (batch, heads, longer, dim)
