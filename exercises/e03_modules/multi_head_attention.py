"""Multi-head self-attention, with a causal mask and a padding mask.

At every position a query asks, and the keys answer: its result is an average of the values, weighted by how well keys
match the query. Heads do this side by side: with d = dim / heads, head h has features h·d to h·d + d of query(x), key(x)
and value(x).

    weights = softmax(q @ kᵀ / sqrt(d)) over all keys that the position sees
    result = out(weights @ v of all heads, side by side)

    layer = MultiHeadAttention(2, heads=1)      # say that all weights are identities and all biases 0
    layer(1.2465 * torch.eye(2)[None])          # [[[1.2465, 0], [0.3116, 0.9349]]]
    # position 0 sees itself. At position 1 the scores are 0 and 1.2465² / sqrt(2) = log(3), so 1/4 and 3/4.

- `query`, `key`, `value` and `out` are nn.Linear of dim to dim features, with biases or without.
- If causal, a position sees itself and what came before, else all.
- padding is True where a token is padding: no position sees it. (attn_mask and HF's masks are the reverse.)

Fine print:
- Results at padded positions are free, but neither they nor gradients are NaN, also with padding on the left.
- Hidden tokens may hold numbers up to 1e4: nothing changes elsewhere.
- x may have several batch dimensions, or none; batch and time may be 0, and there is no longest time.
- Cast with `.to`, the layer works in half precision and float64.
- The state dict holds nothing else, such as a mask.
- No Python loop over batch, heads or time. All of PyTorch may be used.
- On another device nothing is copied to or from the CPU.
- ValueError: heads below 1, or that do not divide dim; padding that has not the shape (batch, time).
"""

from jaxtyping import Bool, Float
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Self-attention with several heads."""

    def __init__(self, dim: int, heads: int, *, causal: bool = True, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "*batch time dim"], padding: Bool[Tensor, "*batch time"] | None = None
    ) -> Float[Tensor, "*batch time dim"]:
        """Let each position of x, (batch, time, dim), attend to those that it sees."""
        raise NotImplementedError
