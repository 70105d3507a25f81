"""Latent attention: a small vector for each token is all that the cache holds, and heads make keys and values from it.

DeepSeek's layers keep a latent c and one turned key r, shared by all heads: latent + rope_dim numbers a token, not
2 * heads * head_dim. (DeepSeek-V2, 2024, equations 9 to 11 and 14 to 19; queries are not compressed here.)

    c = down(x)                                  # (batch, time, latent)
    r = rotate(rope_key(x), start)               # (batch, time, rope_dim); start tokens are in the cache
    k, v = up_key(c), up_value(c)                # head h has features h·head_dim to (h + 1)·head_dim of each
    q, p = the two parts of query(x)             # each head has head_dim features, and then rope_dim, turned as r is
    weights = softmax((q @ kᵀ + p @ rᵀ) / sqrt(head_dim + rope_dim)) over the tokens so far
    result = out(weights @ v of all heads, side by side)

    layer = LatentAttention(2, heads=1, latent=2, head_dim=2, rope_dim=2)   # query is 0, all others identities:
    x = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [0.0, 4.0]]])                # each token gets the mean of those so far
    result, cache = layer(x[:, :1])           # [[[2, 0]]] and [[[2, 0, 2, 0]]]
    result, cache = layer(x[:, 1:], cache)    # [[[3, 1], [2, 2]]], and cache[0, 1] is [4, 2, 0.4783, 4.4465]

- `query`, `down`, `rope_key`, `up_key`, `up_value` and `out` are nn.Linear without biases.
- The cache holds c and r side by side, (batch, tokens so far, latent + rope_dim). None is no tokens.
- x holds the tokens after those in the cache: chunks of any size give what one call gives.
- Gradients flow from the result to x and all weights.

Fine print:
- A step makes no keys and values of the tokens in the cache: up_key's weight can go to the query instead, and up_value's to
  what is gathered. (Making them does the job; it costs head_dim times as much.)
- x and the cache that comes in stay as they are; batch may be 0.
- Cast with `.to`, the layer works in half precision and float64.
- No Python loop over batch, heads or time. All of PyTorch may be used.
- On another device nothing is copied to or from the CPU.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def rotate(x: Float[Tensor, "*batch time dim"], start: int) -> Float[Tensor, "*batch time dim"]:
    """Given: rotary position embedding of tokens whose first one is at position `start`."""
    time, half = x.shape[-2], x.shape[-1] // 2
    kind = torch.promote_types(x.dtype, torch.float32)
    speeds = 10_000.0 ** (-torch.arange(half, dtype=kind, device=x.device) / half)
    angles = torch.arange(start, start + time, dtype=kind, device=x.device).unsqueeze(-1) * speeds
    cos, sin = angles.cos(), angles.sin()  # (time, dim / 2)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1).to(x.dtype)


class LatentAttention(nn.Module):
    """Causal attention whose cache holds a latent and a turned key for each token."""

    def __init__(self, dim: int, heads: int, latent: int, head_dim: int, rope_dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "batch time dim"], cache: Float[Tensor, "batch past cached"] | None = None
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch keys cached"]]:
        """Attend to the tokens so far; return the result for x, and the cache with x's tokens."""
        raise NotImplementedError
