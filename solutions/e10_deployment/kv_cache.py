import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def rotate(
    x: Float[Tensor, "*batch time dim"], positions: Int[Tensor, "time"]
) -> Float[Tensor, "*batch time dim"]:
    half = x.shape[-1] // 2
    speeds = 100.0 ** (-torch.arange(half, device=x.device) / half)
    angles = positions.unsqueeze(-1) * speeds  # (time, dim / 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


class KVCache:
    length: int

    def __init__(
        self,
        batch: int,
        heads: int,
        capacity: int,
        head_dim: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        # keys, values; heads before time, so that a view of the first tokens suits the products
        self._memory = torch.zeros(2, batch, heads, capacity, head_dim, dtype=dtype, device=device)
        self.length = 0

    def append(
        self,
        keys: Float[Tensor, "batch heads new head_dim"],
        values: Float[Tensor, "batch heads new head_dim"],
    ) -> tuple[Float[Tensor, "batch heads length head_dim"], Float[Tensor, "batch heads length head_dim"]]:
        _, batch, heads, capacity, head_dim = self._memory.shape
        new = keys.shape[-2]
        if not keys.shape == values.shape == (batch, heads, new, head_dim):
            raise ValueError(f"keys {tuple(keys.shape)}, values {tuple(values.shape)}: other sizes than here")
        end = self.length + new
        if end > capacity:
            raise ValueError(f"no room for {new} tokens: {self.length} of {capacity} are there")
        self._memory[0, :, :, self.length : end] = keys.detach()
        self._memory[1, :, :, self.length : end] = values.detach()
        self.length = end
        return self._memory[0, :, :, :end], self._memory[1, :, :, :end]

    def truncate(self, length: int) -> None:
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot keep {length} of {self.length} tokens")
        self.length = length


class CachedAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def make_cache(self, batch: int, capacity: int) -> KVCache:
        weight = self.out.weight
        size = weight.shape[0] // self.heads
        return KVCache(batch, self.heads, capacity, size, dtype=weight.dtype, device=weight.device)

    def forward(
        self, x: Float[Tensor, "batch time dim"], cache: KVCache | None = None
    ) -> Float[Tensor, "batch time dim"]:
        start = 0 if cache is None else cache.length
        split = self.qkv(x).unflatten(-1, (3, self.heads, -1))  # (batch, time, 3, heads, d)
        q, k, v = split.permute(2, 0, 3, 1, 4)  # (batch, heads, time, d) each
        positions = torch.arange(start, start + x.shape[1], device=x.device)
        q, k = rotate(q, positions), rotate(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)  # (batch, heads, start + time, d)
        later = torch.arange(k.shape[-2], device=x.device) > positions.unsqueeze(-1)
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(later, -math.inf)
        gathered = scores.softmax(-1) @ v  # (batch, heads, time, d)
        return self.out(gathered.transpose(1, 2).flatten(2))
