import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dim: int, heads: int, *, causal: bool = True, bias: bool = True) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"{dim} features do not split into {heads} heads of equal size")
        self.heads = heads
        self.causal = causal
        self.query = nn.Linear(dim, dim, bias=bias)
        self.key = nn.Linear(dim, dim, bias=bias)
        self.value = nn.Linear(dim, dim, bias=bias)
        self.out = nn.Linear(dim, dim, bias=bias)

    def forward(
        self, x: Float[Tensor, "*batch time dim"], padding: Bool[Tensor, "*batch time"] | None = None
    ) -> Float[Tensor, "*batch time dim"]:
        if padding is not None and padding.shape != x.shape[:-1]:
            raise ValueError(f"padding must be {tuple(x.shape[:-1])}, not {tuple(padding.shape)}")
        q, k, v = (self._split(part(x)) for part in (self.query, self.key, self.value))
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (*batch, heads, time, time)
        hidden = self._hidden(x, padding)
        lowest = torch.finfo(scores.dtype).min  # not -inf: where all is hidden, its softmax is NaN
        weights = scores.masked_fill(hidden, lowest).softmax(-1)
        gathered = (weights @ v).transpose(-3, -2)  # (*batch, time, heads, dim / heads)
        return self.out(gathered.flatten(-2))  # (*batch, time, dim)

    def _split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (self.heads, x.shape[-1] // self.heads))
        return x.transpose(-3, -2)  # (*batch, heads, time, dim / heads)

    def _hidden(self, x: Tensor, padding: Tensor | None) -> Tensor:
        time = x.shape[-2]
        hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
        if not self.causal:
            hidden = torch.zeros_like(hidden)  # (time of the query, time of the key)
        if padding is not None:
            hidden = hidden | padding[..., None, None, :]  # (*batch, 1, time, time)
        return hidden
