"""An eps of 1e-8 that guards nothing.

A router gives each token a weight for each expert, 0 or more. Each row is to become shares that sum to one. Padding has
weights of zero, and gets shares of zero:

    to_shares(torch.tensor([[1.0, 3.0], [0.0, 0.0]]))         # [[0.25, 0.75], [0.0, 0.0]]
    to_shares(torch.tensor([1e-8, 3e-8]))                     # [0.25, 0.75]; the code below gives [0.2, 0.6]

In float16, whose smallest number is 6e-8, the code's 1e-8 is zero, and rows of padding are 0 / 0: NaN. Where it is not
zero it does harm, as above: a fifth of what is divided by is eps. Mend both, for 16 bits and float32.

- The guard is for rows of zeros alone: no other row may feel it, be its weights 1e-20.
- The result has the dtype of weights. Gradients flow through the weights and through their sum.

Fine print:
- Rows of zeros have a gradient of zeros: a `where` after 0 / 0 leaves NaN there (section e09).
- float16 and bfloat16 are summed and divided in float32, and rounded once, at the end: sums may pass 65504.
- float64 is computed in float64.
- The subnormals of float16, below 6e-5, are no zeros either.
- A weight of zero among others has a gradient, too: the |x| in `F.normalize` has none at 0.
- A row with NaN keeps a NaN: it tells of a bug, which `nan_to_num` would hide.
- No rows, or no experts, give an empty result. Strides are any; weights are not changed.
- No Python loop over rows; nothing is copied between the weights' device and the CPU.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def to_shares(weights: Float[Tensor, "*rows experts"]) -> Float[Tensor, "*rows experts"]:
    """Divide each row by its sum; rows of zeros stay zero."""
    total = weights.sum(-1, keepdim=True)  # (*rows, 1)
    return weights / (total + 1e-8)
