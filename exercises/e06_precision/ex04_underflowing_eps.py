"""An eps of 1e-8 that guards nothing.

A router sends each token to experts with weights of 0 or more, and each row is to be made into shares that
sum to one. Tokens that are padding have weights of zero, and shall have shares of zero:

    to_shares(torch.tensor([[1.0, 3.0], [0.0, 0.0]]))         # [[0.25, 0.75], [0.0, 0.0]]

The code below was written in float32. In float16 the rows of padding are NaN: 1e-8 is less than half of the
smallest subnormal, 6e-8, so it rounds to zero, and 0 / 0 is NaN. Where 1e-8 is not zero it does harm too:
weights of 1e-8 and 3e-8 get shares of 0.2 and 0.6, because a fifth of what they are divided by is eps.

Rules, for weights of (*rows, experts) in float16, bfloat16, float32 or float64:
- Every row with a weight above zero has shares that are its weights by their sum, however small or large the
  weights: whatever float16 holds, subnormals as well, and from 1e-30 to 1e30 in the others. The guard is for
  rows of zeros alone: no other row may feel it.
- Rows of zeros give zeros, and a gradient of zeros.
- The result has the shape, dtype and device of weights. float16 and bfloat16 are summed and divided in
  float32, and rounded once, at the end: a share is as near to the exact one as the dtype can tell (one below
  the smallest subnormal may become 0). A sum in float16 would run over at 65504. float32 and float64 are
  wide enough as they are.
- Rows with inf or NaN give something that is not finite somewhere in that row, and do nothing to other rows.
- Gradients flow to weights, also through the sum, in their dtype. Gradients are asked for with weights
  between 0.001 and 1000, next to which rows of zeros and weights of zero may stand.
- Sizes may be 0, the last one as well, and there may be no rows in front: (experts,) is one row. weights are
  not changed. No Python loop over rows, and no number is copied between their device and the CPU, be it
  the number of rows that a mask picks.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def to_shares(weights: Float[Tensor, "*rows experts"]) -> Float[Tensor, "*rows experts"]:
    """Divide each row by its sum.

    Args:
        weights: how much each expert counts, 0 or more, (*rows, experts).

    Returns:
        The shares, (*rows, experts). Rows of zeros stay zero.
    """
    total = weights.sum(-1, keepdim=True)  # (*rows, 1)
    return weights / (total + 1e-8)
