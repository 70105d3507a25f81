"""A cache for keys and values, so that a new token costs one step, not a pass over all.

    layer = CachedAttention(2, heads=1)       # say that queries and keys are 0, values and out identities:
    x = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [0.0, 4.0]]])   # each token gets the mean of those so far
    layer(x)                                  # [[[2, 0], [3, 1], [2, 2]]]
    cache = layer.make_cache(batch=1, capacity=8)
    layer(x[:, :2], cache)                    # [[[2, 0], [3, 1]]], and cache.length is 2
    layer(x[:, 2:], cache)                    # [[[2, 2]]], and cache.length is 3
    cache.truncate(1)                         # only token 0 is left: the next one is number 1 again

- layer(x) is causal attention over x alone. layer(x, cache) takes x as the tokens after those in the cache, and puts
  their keys and values there: chunks of any size give what one call gives.
- `qkv` (dim to 3 · dim: queries, keys, values) and `out` are linear without biases; head h has features h · d to
  (h + 1) · d of each.
- Queries and keys are turned by `rotate` at the number of their token; the weights are softmax(q @ kᵀ / sqrt(d)).
- append returns all keys and values so far, (batch, heads, length, d). One layer serves several caches.

Fine print:
- A KVCache has its memory, for `capacity` tokens, from the start: append writes into it and returns views.
  (`torch.cat`, as in Hugging Face's DynamicCache, copies all at each step. It does the job.)
- A cache holds no graph, also outside of torch.no_grad(). Gradients flow through layer(x).
- make_cache gives the dtype and device of the weights; nothing is copied to or from the CPU.
- ValueError for tokens without room, keys and values of other sizes, and truncate below 0 or above length. The cache is
  then as it was.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def rotate(
    x: Float[Tensor, "*batch time dim"], positions: Int[Tensor, "time"]
) -> Float[Tensor, "*batch time dim"]:
    """Given: turn pairs of features by angles that grow with the position, as in RoPE.

    Args:
        x: queries or keys, with an even number of features.
        positions: the number of each token in its sequence.
    """
    half = x.shape[-1] // 2
    speeds = 100.0 ** (-torch.arange(half, device=x.device) / half)
    angles = positions.unsqueeze(-1) * speeds  # (time, dim / 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


class KVCache:
    """The keys and values of the first `length` tokens, with room for `capacity`."""

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
        raise NotImplementedError

    def append(
        self,
        keys: Float[Tensor, "batch heads new head_dim"],
        values: Float[Tensor, "batch heads new head_dim"],
    ) -> tuple[Float[Tensor, "batch heads length head_dim"], Float[Tensor, "batch heads length head_dim"]]:
        """Store the keys and values of new tokens; return all keys and all values, the new ones last."""
        raise NotImplementedError

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        raise NotImplementedError


class CachedAttention(nn.Module):
    """Causal self-attention that can go on where it stopped."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        raise NotImplementedError

    def make_cache(self, batch: int, capacity: int) -> KVCache:
        """An empty cache for this layer, in its dtype and on its device."""
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "batch time dim"], cache: KVCache | None = None
    ) -> Float[Tensor, "batch time dim"]:
        """Attend to the tokens so far: those in the cache, and x."""
        raise NotImplementedError
