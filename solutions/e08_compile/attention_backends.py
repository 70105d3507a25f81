import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def attention(
    query: Float[Tensor, "batch time heads dim"],
    key: Float[Tensor, "batch keys kv_heads dim"],
    value: Float[Tensor, "batch keys kv_heads dim"],
    causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "batch time heads dim"]:
    time, keys = query.shape[1], key.shape[1]
    mask = None
    if causal and 1 < time < keys:  # a single query, the last one, sees all keys
        mask = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)  # (time, keys)
    mixed = F.scaled_dot_product_attention(
        query.transpose(1, 2),  # (batch, heads, time, dim)
        key.transpose(1, 2),  # (batch, kv_heads, keys, dim)
        value.transpose(1, 2),
        attn_mask=mask,
        is_causal=causal and time == keys,  # puts the first query at the first key
        scale=scale,
        enable_gqa=True,
    )
    return mixed.transpose(1, 2)  # (batch, time, heads, dim)
