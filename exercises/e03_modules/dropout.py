"""Dropout that is off when it should be.

In training, dropout sets each number to 0 with probability p. What remains is divided by 1 - p, so that the
expected value stays, and evaluation has nothing to correct ("inverted" dropout):

    drop = Dropout(p=0.2)
    drop(torch.ones(6))             # [1.25, 0., 1.25, 1.25, 1.25, 1.25] for example, another mask at each call
    drop.eval()
    drop(torch.ones(6))             # [1., 1., 1., 1., 1., 1.]

- Each element is dropped independently of all others, anew at each call.
- `train()` and `eval()` of a model that contains it switch it, too; `no_grad` does not.
- Gradients: 1 / (1 - p) for what remains, and 0 for what is dropped.
- Without PyTorch's own dropout functions and layers (`nn.Dropout`, `F.dropout`, …).

Fine print:
- p = 1 gives zeros, never NaN, and they are still part of the graph.
- p below 0 or above 1: the constructor raises ValueError.
- `drop.p` may be set later: forward uses the value of that moment.
- Masks come from PyTorch's global random stream: the same seed, the same mask. Evaluation draws nothing.
- The result has the dtype of x, half precision too, and its device; nothing is copied to or from the CPU.
- x stays as it is.
"""

from jaxtyping import Float
from torch import Tensor, nn


class Dropout(nn.Module):
    """Drops numbers with probability `p` in training mode, and does nothing in evaluation mode."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """`x` with dropped numbers in training mode, `x` in evaluation mode."""
        raise NotImplementedError
