import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class TransformerBlock(nn.Module):
    def __init__(self, dim: int, heads: int, hidden: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"{dim} features do not split into {heads} heads of equal size")
        hidden = 4 * dim if hidden is None else hidden
        self.heads = heads
        self.dropout = nn.Dropout(dropout)
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
        x = x + self.dropout(self._attend(self.norm1(x)))  # (*batch, time, dim)
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))

    def _attend(self, x: Tensor) -> Tensor:
        time, dim = x.shape[-2:]
        qkv = self.qkv(x).unflatten(-1, (3, self.heads, dim // self.heads))
        q, k, v = qkv.movedim(-3, 0).transpose(-3, -2)  # each (*batch, heads, time, dim / heads)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)  # (*batch, heads, time, time)
        return self.out((weights @ v).transpose(-3, -2).flatten(-2))
