"""A transformer block: attention and a small network, each added to a stream that is never normalised itself.

GPT-2 and nearly all models since are stacks of this block. It reads a normalised copy of the stream, and adds
what it finds (pre-norm):

    x = x + dropout(attention(norm1(x)))
    x = x + dropout(down(gelu(up(norm2(x)))))

    block = TransformerBlock(2, heads=1)     # say that all its numbers are 0, but out.bias is [0.0, 1.0]
    block(torch.tensor([[3.0, 4.0]]))        # [[3.0, 5.0]]: attention adds [0.0, 1.0], the network [0.0, 0.0]

Rules:
- x is (*batch, time, dim), with any number of batch dimensions, also none; batch and time may be 0, and there
  is no longest time.
- Registered and saved are `norm1` and `norm2` (nn.LayerNorm over dim, eps 1e-5), and `qkv` (dim to 3 · dim
  features), `out` (dim to dim), `up` (dim to hidden) and `down` (hidden to dim), linear layers with biases.
  No other parameter or buffer is. All start as PyTorch's own layers do.
- Of the features of qkv(x) the first dim are queries, then dim keys, then dim values. With d = dim / heads,
  head h has features h·d to h·d + d of each. Its result at a position is the average of the values at this
  and all earlier positions, with the weights softmax(q @ kᵀ / sqrt(d)). `out` gets all heads side by side.
- gelu is the exact one, x · Φ(x), not the approximation with tanh.
- dropout is the probability with which an element of what a branch adds is dropped (the rest is scaled up, as
  nn.Dropout does): in training mode, on each branch's output by itself, drawn from the global stream. Nothing
  else drops anything. In evaluation mode the block draws nothing.
- Gradients flow to x, also straight through both sums, and to all parameters. x, in any layout, is not
  changed, and the result has memory of its own.
- The block works in float32, float64, bfloat16 and float16 (cast with `.to`, for x of the same dtype; the
  result has it too) and on any device, where it copies nothing to or from the CPU. No Python loop over batch,
  heads or time. Whatever PyTorch offers may be used.

Bad input: heads below 1, or a dim that is not a multiple of heads, raises ValueError when the block is built.
"""

from jaxtyping import Float
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """Causal self-attention and a two-layer network, both pre-norm and residual.

    Args:
        dim: the number of features of each token.
        heads: how many heads share them.
        hidden: the number of features between `up` and `down`; None for 4 · dim.
        dropout: the probability with which an element of a branch's output is dropped.

    Raises:
        ValueError: `heads` does not divide `dim`.
    """

    def __init__(self, dim: int, heads: int, hidden: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
        """Add what both branches find to the stream.

        Args:
            x: the stream, (*batch, time, dim).

        Returns:
            The stream after the block, in the shape, dtype and device of `x`.
        """
        raise NotImplementedError
