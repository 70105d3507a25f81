"""Multi-head self-attention, with a causal mask and a padding mask.

Every position asks (query), every position answers (key, value): a position's result is an average of the
values, weighted by how well the keys match its query. Heads do this side by side, each on its own slice of
the features. With d = dim / heads, head h takes features h·d to h·d + d of query(x), key(x) and value(x):

    weights = softmax(q @ kᵀ / sqrt(d)) over all visible keys
    result = out(weights @ v of all heads, side by side)

    layer = MultiHeadAttention(2, heads=1)      # say that all weights are identities and all biases 0
    layer(1.2465 * torch.eye(2))                # [[1.2465, 0], [0.3116, 0.9349]]
    # position 0 sees itself. At position 1 the scores are 0 and 1.2465² / sqrt(2) = log(3), so 1/4 and 3/4.

Rules:
- x is (*batch, time, dim), with any number of batch dimensions, also none; batch and time may be 0, and
  there is no longest time. padding is boolean, (*batch, time), True where a token is padding.
- A key is visible unless it is padding. If causal, it is hidden from all earlier positions too: a position
  sees itself and what came before. A padded position still asks, and its result is computed like any other.
- What is hidden has no influence on a value or gradient, whatever number up to 1e4 it holds. A position that
  sees no key at all (after padding on the left) averages to 0, so its result is the bias of out; gradients
  are never NaN.
- `query`, `key`, `value` and `out` are linear layers of dim to dim features, as nn.Linear makes them. With
  bias=True they have biases, else none of them has. Nothing else is registered or saved: the state dict holds
  "query.weight", "query.bias", "key.weight", …
- The layer works in float32, float64, bfloat16 and float16 (cast with `.to`, for x of the same dtype; the
  result has it too) and on any device, where it copies nothing to or from the CPU. Scores may reach 1e5
  in float32, above 0 and below.
- Gradients flow to x and to all parameters. No Python loop over batch, heads or time. No dropout. x (in any
  layout) and padding are not changed.

Bad input: heads below 1, or a dim that is not a multiple of heads, raises ValueError when the layer is built;
padding of another shape than x's (*batch, time), also one that would broadcast, when it is called.
"""

from jaxtyping import Bool, Float
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Self-attention with several heads.

    Args:
        dim: the number of features of each token.
        heads: how many heads share them.
        causal: whether a position sees only itself and earlier ones.
        bias: whether the four linear layers have biases.

    Raises:
        ValueError: `heads` does not divide `dim`.
    """

    def __init__(self, dim: int, heads: int, *, causal: bool = True, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "*batch time dim"], padding: Bool[Tensor, "*batch time"] | None = None
    ) -> Float[Tensor, "*batch time dim"]:
        """Let each position attend to those that it sees.

        Args:
            x: the tokens, (*batch, time, dim).
            padding: which of them are padding, (*batch, time); None if none is.

        Returns:
            What each position has gathered, (*batch, time, dim), in the dtype and on the device of `x`.

        Raises:
            ValueError: `padding` has another shape.
        """
        raise NotImplementedError
