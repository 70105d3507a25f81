"""A transformer block: attention and a small network, each added to a stream that is never normalised itself.

GPT-2 and nearly all models since are stacks of this block:

    x = x + dropout(attention(norm1(x)))
    x = x + dropout(down(gelu(up(norm2(x)))))

    block = TransformerBlock(2, heads=1, hidden=2)
    # Say that its norms are new, biases, queries and keys are 0, out.weight is [[-2, 0], [0, -2]], and all else identities.
    block(torch.tensor([[[3.0, 5.0], [5.0, 1.0]]]))     # [[[5.8413, 2.8413], [5.8413, 0.8413]]]
    # norm1: [-1, 1] and [1, -1]; attention adds [2, -2] and [0, 0], the network gelu([1, -1]) = [0.8413, -0.1587] twice

- `norm1`, `norm2` are nn.LayerNorm; `qkv` (dim to 3 · dim features), `out` (dim to dim), `up` (dim to hidden, by
  default 4 · dim) and `down` (back to dim) are nn.Linear. Nothing else is registered.
- qkv(x) holds queries, then keys, then values. Head h has features h·d to h·d + d of each, d = dim / heads.
- A head averages the values here and before by softmax(q kᵀ / √d). `out` gets the heads side by side.
- gelu is the exact one, PyTorch's default.
- dropout, in training alone, drops elements of what each branch adds.

Fine print:
- Nothing else is dropped. nanoGPT drops attention weights too, PyTorch's encoder layer hidden features; both do
  the job, but here dropout=0.1 means one thing.
- GPT-2's own code approximates gelu with tanh. It is refused: all values differ in the fourth digit.
- In evaluation nothing is drawn from the random stream.
- x is (batch, time, dim), with any number of batch dimensions, also none. Batch and time may be 0, and there is
  no longest time.
- Cast with `.to`, the block works in half precision and float64; the result has the dtype of x.
- The norms have PyTorch's eps, 1e-5 (others take 1e-6).
- No Python loop over batch, heads or time. Whatever PyTorch offers may be used.
- x stays as it is. On another device nothing is copied to or from the CPU, the mask included.
- heads below 1, or a dim that is no multiple of heads: ValueError when the block is built.
"""

from jaxtyping import Float
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """Causal self-attention and a two-layer network, both pre-norm and residual."""

    def __init__(self, dim: int, heads: int, hidden: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
        """Add what both branches find to the stream x, (*batch, time, dim)."""
        raise NotImplementedError
