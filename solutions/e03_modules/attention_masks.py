import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F


def by_module(
    layer: nn.MultiheadAttention,
    x: Float[Tensor, "batch time dim"],
    real: Bool[Tensor, "batch time"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch time dim"]:
    time = x.shape[1]
    later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1) if causal else None
    padding = None if real is None else ~real  # True hides
    y = layer(x, x, x, key_padding_mask=padding, attn_mask=later, need_weights=False)[0]
    return y if padding is None else y.masked_fill(padding.unsqueeze(-1), 0.0)


def by_function(
    layer: nn.MultiheadAttention,
    x: Float[Tensor, "batch time dim"],
    real: Bool[Tensor, "batch time"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch time dim"]:
    time = x.shape[1]
    qkv = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).unflatten(-1, (3, layer.num_heads, -1))
    q, k, v = qkv.permute(2, 0, 3, 1, 4)  # (batch, heads, time, dim / heads)
    seen = torch.ones(time, time, dtype=torch.bool, device=x.device)  # True shows
    if causal:
        seen = seen.tril()
    if real is not None:
        seen = seen & real[:, None, None, :]  # (batch, 1, time, time)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    return layer.out_proj(mixed.transpose(1, 2).flatten(2))
