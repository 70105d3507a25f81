"""A decoder with rotary positions and a sliding window; what it has read is in a cache."""

import math

import torch
from torch import Tensor, nn

from .cache import Cache


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Turn x (size, heads, time, features) by the angles of `positions` (size, time)."""
    half = x.size(-1) // 2
    rates = 10000.0 ** (-torch.arange(half) / half)
    angles = (positions[:, None, :, None] * rates).to(x.dtype)  # (size, 1, time, half)
    first, second = x.chunk(2, dim=-1)
    turned = first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()
    return torch.cat(turned, dim=-1)


def visible(new: Tensor, known: Tensor, window: int) -> Tensor:
    """Which places, of positions `known`, the new tokens see, of positions `new`: (size, new, places)."""
    new, known = new[:, :, None], known[:, None, :]
    near = (known >= 0) & (known > new - window)
    return near & (known <= new)


class Attention(nn.Module):
    """Causal attention of several heads."""

    def __init__(self, width: int, heads: int) -> None:
        """Without biases."""
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, new: Tensor, seen: Tensor, cache: Cache, layer: int) -> Tensor:
        """Attend from new tokens x (size, time, width), at positions `new`, to the places that are seen."""
        size, time, width = x.shape
        parts = self.qkv(x).reshape(size, time, 3, self.heads, -1).transpose(1, 3)
        q, k, v = parts.unbind(dim=2)  # (size, heads, time, features)
        keys, values = cache.extend(layer, rotate(k, new), v)
        scores = rotate(q, new) @ keys.mT / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~seen[:, None], torch.finfo(scores.dtype).min)
        mixed = scores.softmax(dim=-1) @ values  # (size, heads, time, features)
        return self.out(mixed.transpose(1, 2).reshape(size, time, width))


class Block(nn.Module):
    """Attention and an MLP, each behind a norm and beside a residual."""

    def __init__(self, width: int, heads: int) -> None:
        """An MLP four times as wide."""
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, new: Tensor, seen: Tensor, cache: Cache, layer: int) -> Tensor:
        """Like the attention."""
        x = x + self.attention(self.norm1(x), new, seen, cache, layer)
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    """From tokens to the logits of the tokens behind them."""

    def __init__(self, vocab: int, width: int, heads: int, layers: int, window: int) -> None:
        """Each token sees the last `window` ones, itself among them."""
        super().__init__()
        self.window = window
        self.embedding = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids: Tensor, real: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """Logits (size, new, vocab) for ids (size, new), which come behind what the cache has read."""
        cache = Cache(len(ids)) if cache is None else cache
        real = torch.ones_like(ids, dtype=torch.bool) if real is None else real
        new = cache.place(real)
        seen = visible(new, cache.known, self.window)
        x = self.embedding(ids)
        for layer, block in enumerate(self.blocks):
            x = block(x, new, seen, cache, layer)
        return self.head(self.norm(x))
