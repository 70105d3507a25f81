"""Dropout that is off when it should be.

In training, dropout sets each number to 0 with probability p. What remains grows by 1 / (1 - p), so that the
expected value stays and evaluation has nothing to correct ("inverted" dropout):

    drop = Dropout(p=0.5)
    drop(torch.ones(6))             # [2., 0., 0., 2., 2., 0.] for example, another mask at each call
    drop.eval()
    drop(torch.ones(6))             # [1., 1., 1., 1., 1., 1.]

Rules:
- Training mode: each element is dropped with probability p, independently of all others, anew at each call,
  under `no_grad` too. What remains is x / (1 - p), up to a few roundings of its dtype.
- Evaluation mode: the numbers of x, in x itself or in a copy, and nothing is drawn. The mode is the module's
  own (`self.training`), so `train()` and `eval()` of a model that contains it switch it.
- Numbers are drawn from PyTorch's global random stream of the device where x is: the same seed gives the
  same mask. Nothing is copied between the CPU and a device.
- The rate is p in every dtype: random numbers in bfloat16 are multiples of 1/256, those in float16 of 1/2048,
  too coarse for p = 0.0005.
- p may be 0 (x as it is) and 1 (all 0, never NaN). It is kept as the attribute `p`, which may be set later:
  forward uses the value of that moment. Not in 0 … 1, or NaN: the constructor raises ValueError.
- x is finite, of any shape (0-d and empty too), strides and floating dtype. The result has its shape, dtype
  and device. x is not changed. Gradients: 1 / (1 - p) for what remains and 0 for what is dropped, with
  p = 1 too, where the result is still part of the graph.
- No parameters and no buffers. Without PyTorch's own dropout functions and layers (`nn.Dropout`, `F.dropout`,
  `alpha_dropout`, …), in any spelling.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Dropout(nn.Module):
    """Drops numbers in training mode, and does nothing in evaluation mode.

    Args:
        p: the probability with which a number is dropped, 0 … 1.

    Raises:
        ValueError: p is less than 0, greater than 1 or NaN.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p is a probability, from 0 to 1, but it is {p}")
        self.p = p

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """`x` with dropped numbers in training mode, `x` in evaluation mode."""
        if not self.training:
            return x
        # float32 whatever x is: a draw in bfloat16 is too coarse for small p
        dropped = torch.rand(x.shape, device=x.device) < self.p  # (*shape)
        scale = 0.0 if self.p == 1 else 1 / (1 - self.p)
        return (x * scale).masked_fill(dropped, 0.0)
