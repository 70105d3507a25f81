"""SwiGLU: the gated feed-forward block of LLaMA.

In most language models since LLaMA the block behind attention has three matrices: one makes a gate, one makes
features, and their product goes back to the model's width. (Shazeer 2020, "GLU Variants Improve Transformer",
equation 6.) For x of (..., dim):

    y = down_proj(silu(gate_proj(x)) * up_proj(x))          # silu(z) = z * sigmoid(z)

    layer = SwiGLU(2, hidden=2)                # say that all weights are identities
    layer(torch.tensor([[1.0, 2.0]]))          # [[0.7311, 3.5232]]: 1 * sigmoid(1) * 1, 2 * sigmoid(2) * 2

- `gate_proj` and `up_proj` are nn.Linear of dim to hidden features, `down_proj` of hidden to dim, none with a bias.
- hidden is LLaMA's where it is None: 8 * dim / 3, rounded up to a multiple of `multiple_of`. SwiGLU(4096) has 11008.
- Gradients flow to x and to all weights.

Fine print:
- 8 * dim / 3 is cut to a whole number first: SwiGLU(4, multiple_of=2) has 10 hidden features, not 12.
- x may have any number of dimensions in front, also none, and no rows.
- Cast with `.to`, the layer works in half precision and float64.
- x stays as it is.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor, nn


class SwiGLU(nn.Module):
    """Features times a gate."""

    def __init__(self, dim: int, hidden: int | None = None, *, multiple_of: int = 256) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape dim"]:
        """Send each row of x, (*shape, dim), through the block."""
        raise NotImplementedError
