"""Attention, and causal self-attention with several heads."""

import torch
from torch import Tensor

from .layers import linear, softmax


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.mT / q.shape[-1] ** 0.5  # (..., queries, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return softmax(scores, -1) @ v


def self_attention(x: Tensor, weights: dict[str, Tensor], heads: int) -> Tensor:
    q, k, v = (linear(x, weights[name]).unflatten(-1, (heads, -1)).transpose(1, 2) for name in "qkv")
    time = x.shape[1]
    found = attention(q, k, v, torch.ones(time, time, dtype=torch.bool).tril())  # (batch, heads, time, dim)
    return linear(found.transpose(1, 2).flatten(2), weights["out"])
