import math

import torch
from jaxtyping import Float
from torch import Tensor


def grouped_attention(
    q: Float[Tensor, "batch heads time dim"],
    k: Float[Tensor, "batch kv_heads keys dim"],
    v: Float[Tensor, "batch kv_heads keys dim"],
) -> Float[Tensor, "batch heads time dim"]:
    (heads, time, dim), (kv_heads, keys, _) = q.shape[1:], k.shape[1:]
    if heads % kv_heads:
        raise ValueError(f"{heads} heads of queries do not share {kv_heads} heads of keys evenly")
    grouped = q.unflatten(1, (kv_heads, heads // kv_heads))  # (batch, kv_heads, group, time, dim)
    stacked = grouped.flatten(2, 3)  # (batch, kv_heads, group * time, dim)
    scores = (stacked @ k.mT / math.sqrt(dim)).unflatten(2, (-1, time))  # (…, group, time, keys)
    seen = torch.ones(time, keys, dtype=torch.bool, device=q.device).tril(keys - time)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return (weights.flatten(2, 3) @ v).reshape(q.shape)  # (batch, heads, time, dim)
