import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


def rotate(x: Float[Tensor, "*batch time dim"], start: int) -> Float[Tensor, "*batch time dim"]:
    time, half = x.shape[-2], x.shape[-1] // 2
    kind = torch.promote_types(x.dtype, torch.float32)
    speeds = 10_000.0 ** (-torch.arange(half, dtype=kind, device=x.device) / half)
    angles = torch.arange(start, start + time, dtype=kind, device=x.device).unsqueeze(-1) * speeds
    cos, sin = angles.cos(), angles.sin()  # (time, dim / 2)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1).to(x.dtype)


class LatentAttention(nn.Module):
    def __init__(self, dim: int, heads: int, latent: int, head_dim: int, rope_dim: int) -> None:
        super().__init__()
        self.heads, self.latent, self.head_dim, self.rope_dim = heads, latent, head_dim, rope_dim
        self.query = nn.Linear(dim, heads * (head_dim + rope_dim), bias=False)
        self.down = nn.Linear(dim, latent, bias=False)
        self.rope_key = nn.Linear(dim, rope_dim, bias=False)
        self.up_key = nn.Linear(latent, heads * head_dim, bias=False)
        self.up_value = nn.Linear(latent, heads * head_dim, bias=False)
        self.out = nn.Linear(heads * head_dim, dim, bias=False)

    def forward(
        self, x: Float[Tensor, "batch time dim"], cache: Float[Tensor, "batch past cached"] | None = None
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch keys cached"]]:
        start, time = 0 if cache is None else cache.shape[1], x.shape[1]
        new = torch.cat([self.down(x), rotate(self.rope_key(x), start)], -1)
        cache = new if cache is None else torch.cat([cache, new], 1)  # (batch, keys, latent + rope_dim)
        query = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, p = query.split([self.head_dim, self.rope_dim], -1)  # (batch, heads, time, …)
        up_key, up_value = (
            part.weight.unflatten(0, (self.heads, self.head_dim)) for part in (self.up_key, self.up_value)
        )  # (heads, head_dim, latent)
        asked = torch.cat([q @ up_key, rotate(p, start)], -1)  # (batch, heads, time, latent + rope_dim)
        # one matrix of queries for all heads: a product that broadcasts would copy the cache
        scores = (asked.flatten(1, 2) @ cache.mT).unflatten(1, (self.heads, time))  # (…, heads, time, keys)
        later = torch.ones(time, cache.shape[1], dtype=torch.bool, device=x.device).triu(start + 1)
        scores = (scores / math.sqrt(self.head_dim + self.rope_dim)).masked_fill(later, -math.inf)
        weights = scores.softmax(-1).flatten(1, 2)  # (batch, heads * time, keys)
        gathered = (weights @ cache[..., : self.latent]).unflatten(1, (self.heads, time))
        values = (gathered @ up_value.mT).transpose(1, 2)  # (batch, time, heads, head_dim)
        return self.out(values.flatten(2)), cache
