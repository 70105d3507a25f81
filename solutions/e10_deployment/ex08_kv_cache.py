"""A cache for keys and values, so that each new token costs one step and not one more pass over all of them.

A causal layer computes the same keys and values for the tokens so far, whatever comes next. Decoding keeps
them, and computes those of the new tokens only. What comes out must not depend on how the tokens were split:

    layer = CachedAttention(2, heads=1)       # say that queries and keys are 0, values and out identities:
    x = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [0.0, 4.0]]])   # each token gets the mean of those so far
    layer(x)                                  # [[[2, 0], [3, 1], [2, 2]]]
    cache = layer.make_cache(batch=1, capacity=8)
    layer(x[:, :2], cache)                    # [[[2, 0], [3, 1]]], and cache.length is 2
    layer(x[:, 2:], cache)                    # [[[2, 2]]], and cache.length is 3
    cache.truncate(1)                         # tokens 1 and 2 are forgotten: the next token is number 1 again

Rules:
- layer(x) is attention over x (batch, time, dim) alone; layer(x, cache) takes x as the tokens after those in
  the cache, stores their keys and values there, and returns results for the tokens of x. A token sees itself
  and all before it, in the cache and in x. Chunks of any size, 0 too, give what one call gives.
- Registered are `qkv` (dim to 3 · dim features: queries, keys, values) and `out` (dim to dim), linear layers
  without biases, and nothing else. With d = dim / heads, head h has features h·d to h·d + d of each. Queries
  and keys are turned by `rotate`, which is given, at the number of their token in the sequence, from 0;
  the weights are softmax(q @ kᵀ / sqrt(d)). Gradients flow through layer(x).
- All state is in the cache: one layer serves several caches at once.
- make_cache gives an empty KVCache in the dtype and on the device of the layer's weights (float32, float64,
  bfloat16 or float16). Nothing is copied to or from the CPU.
- A KVCache allocates room for `capacity` tokens when it is built, and no more after that: append writes into
  it, and returns views of all keys and all values so far, (batch, heads, length, head_dim), bit by bit. Its
  cost does not grow with what is there already, and a chunk is stored without a loop over its tokens.
- A cache holds no graph, also when layer or append is called outside of torch.no_grad(): else each step would
  keep all before it alive. Results of layer(x, cache) may carry a graph or none.
- layer(x, cache) computes queries, keys and values of x only. x, and what append is given, are not changed.

ValueError: heads below 1 or no divisor of dim, d odd; more tokens than the cache has room for; keys or values
of other sizes than the cache's, or x of another batch size; truncate to less than 0 or more than length.
An error leaves the cache as it was.
"""

import math

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
    """The keys and values of the tokens so far, in memory that is there from the start.

    Attributes:
        length: how many tokens are in it.

    Args:
        batch: how many sequences.
        heads: how many heads.
        capacity: for how many tokens there is room.
        head_dim: the features of each head.
        dtype: of keys and values.
        device: where they are.
    """

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
        """Store the keys and values of new tokens.

        Returns:
            Views of all keys and of all values in the cache, the new ones last.

        Raises:
            ValueError: the sizes do not fit, or there is no room. Nothing is stored then.
        """
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
        """Forget all but the first `length` tokens.

        Raises:
            ValueError: there are not as many, or `length` is negative.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot keep {length} of {self.length} tokens")
        self.length = length


class CachedAttention(nn.Module):
    """Causal self-attention that can go on where it stopped.

    Args:
        dim: the features of each token.
        heads: how many heads share them.

    Raises:
        ValueError: `heads` does not divide `dim` into even numbers of features.
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or dim % heads or dim // heads % 2:
            raise ValueError(f"{dim} features do not split into {heads} heads of even size")
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def make_cache(self, batch: int, capacity: int) -> KVCache:
        """An empty cache for this layer, in its dtype and on its device."""
        weight = self.out.weight
        size = weight.shape[0] // self.heads
        return KVCache(batch, self.heads, capacity, size, dtype=weight.dtype, device=weight.device)

    def forward(
        self, x: Float[Tensor, "batch time dim"], cache: KVCache | None = None
    ) -> Float[Tensor, "batch time dim"]:
        """Attend to the tokens so far.

        Args:
            x: the new tokens, (batch, time, dim).
            cache: those before them; x goes into it. None if x is the whole sequence.

        Raises:
            ValueError: `cache` has no room for x, or is for another batch size.
        """
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
