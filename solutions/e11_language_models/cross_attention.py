import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class CrossAttention(nn.Module):
    def __init__(self, dim: int, memory_dim: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"{dim} features do not split into {heads} heads of equal size")
        self.heads = heads
        self.query = nn.Linear(dim, dim, bias=False)
        self.key = nn.Linear(memory_dim, dim, bias=False)
        self.value = nn.Linear(memory_dim, dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def project(self, memory: Float[Tensor, "batch keys memory_dim"]) -> Any:
        return self._split(self.key(memory)), self._split(self.value(memory))

    def attend(
        self,
        x: Float[Tensor, "batch time dim"],
        projected: Any,
        padding: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time dim"]:
        q, (k, v) = self._split(self.query(x)), projected
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, time, keys)
        if padding is None:
            weights = scores.softmax(-1)
        else:
            if padding.shape != (len(k), k.shape[2]):
                raise ValueError(f"padding must be {(len(k), k.shape[2])}, not {tuple(padding.shape)}")
            hidden = padding[:, None, None]  # (batch, 1, 1, keys)
            # the lowest number, not -inf: where all is hidden, its softmax is NaN
            weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(-1)
            weights = weights.masked_fill(hidden, 0.0)
        gathered = (weights @ v).transpose(1, 2)  # (batch, time, heads, dim / heads)
        return self.out(gathered.flatten(2))  # (batch, time, dim)

    def _split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (self.heads, x.shape[-1] // self.heads))
        return x.transpose(1, 2)  # (batch, heads, time, dim / heads)

    def forward(
        self,
        x: Float[Tensor, "batch time dim"],
        memory: Float[Tensor, "batch keys memory_dim"],
        padding: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time dim"]:
        return self.attend(x, self.project(memory), padding)
