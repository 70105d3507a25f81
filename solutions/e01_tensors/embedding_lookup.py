import torch
from jaxtyping import Int, Shaped
from torch import Tensor


def embedding_lookup(
    weight: Shaped[Tensor, "vocab dim"], ids: Int[Tensor, "*shape"]
) -> Shaped[Tensor, "*shape dim"]:
    if ids.is_floating_point() or ids.dtype == torch.bool:
        raise TypeError(f"ids must be integers, not {ids.dtype}")
    vocab, dim = weight.shape
    flat = ids.reshape(-1).long()  # (n,); as int64 a uint8 index is no mask
    if len(flat) and (flat.min() < 0 or flat.max() >= vocab):
        raise IndexError(f"ids must lie in 0 … {vocab - 1}; got {int(flat.min())} … {int(flat.max())}")
    rows = weight[flat]  # (n, dim), a copy
    return rows.reshape(*ids.shape, dim)
