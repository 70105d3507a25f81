"""A graph without breaks: no print, no `.item()`, no `if` on a tensor.

Now and then a layer emits a huge update, or NaN. `bounded_residual` adds an update to the residual stream x,
and bounds it by its size, the root mean square (rms) of all its numbers:

    x, update = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -3.0]])
    bounded_residual(x, update, limit=5.0)        # [[4., -1.]], 3.0    small enough: added as it is
    bounded_residual(x, update)                   # [[2.,  1.]], 3.0    too large: scaled by limit / rms = 1/3
    bounded_residual(x, update / torch.zeros(2))  # [[1.,  2.]], inf    neither inf nor NaN is let in

The code below computes all of this right, and prints the rms. But `fullgraph=True` raises `Unsupported`, at
the first of several lines that cannot be part of a graph. (Without it, each of them splits the graph:
compiled code stops there, and goes on in Python.)

Rules:
- The caller compiles, `torch.compile(bounded_residual, fullgraph=True)`, under PyTorch's default settings and
  with any backend. One graph serves all three cases: other values in x and update need no second one.
- Compiled or not, numbers and gradients are the same. Nothing is printed: the rms is returned instead, for
  whoever logs it.
- Compiled or not, the host reads no number off the device and never waits for it: not by `.item()`, not by
  `float`, an `if` or `torch.cond` on a tensor.
- An update is scaled only where rms > limit. The limit may be 0, and the update may be all zeros.
- rms is computed in float32, whatever the dtype: 300² is too much for float16.
- Where rms is inf or NaN the update is skipped as a whole: the result has the values of x.
- For gradients the factor is a constant, and rms has no graph: x gets the gradient of the result, update gets
  it times the factor. A skipped update gets zeros or no gradient, never NaN.
- x and update have the same shape, dtype and device: any shape, also one without dimensions or with size 0
  (whose rms is NaN), float32, float16 or bfloat16. The result is like them. Neither is changed.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def bounded_residual(
    x: Float[Tensor, "*shape"], update: Float[Tensor, "*shape"], limit: float = 1.0
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, ""]]:
    """Add an update whose root mean square is at most `limit`.

    Args:
        x: the residual stream, of any shape.
        update: what to add, of the same shape and dtype.
        limit: the largest root mean square that is added, a Python number of at least 0.

    Returns:
        x plus the bounded update, of the same dtype, and the rms of the update as it was given: a float32
        tensor without dimensions and without a graph, on the device of update.
    """
    rms = update.float().square().mean().sqrt().item()
    print(f"rms of the update: {rms:.3f}")
    if not math.isfinite(rms):
        return x, torch.tensor(rms, device=x.device)
    if rms > limit:
        update = update * (limit / rms)
    return x + update, torch.tensor(rms, device=x.device)
