"""One graph without breaks: no print, no `.item()`, no `if` on a tensor.

Now and then a layer emits a huge update, or NaN. `bounded_residual` adds an update to the residual stream x: scaled
down to `limit` where its root mean square (rms) is larger, and not at all where that is inf or NaN.

    fast = torch.compile(bounded_residual, fullgraph=True)
    x, update = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -3.0]])
    fast(x, update, limit=5.0)            # [[4., -1.]], 3.0    small enough: added as it is
    fast(x, update)                       # [[2.,  1.]], 3.0    too large: scaled by limit / rms = 1/3
    fast(x, update / torch.zeros(2))      # [[1.,  2.]], inf    skipped

The code below gives this only uncompiled. Several lines cannot be part of a graph: `fast` raises `Unsupported`, which
names the first. (Without `fullgraph` the graph would break there, in silence.) Run this file to see it.

- One graph serves all three cases. Compiled or not, results are those of the code below.
- The rms is returned, not printed: a float32 tensor without dimensions.

Fine print:
- For gradients the factor is a constant, and the rms has no graph: `.item()` had seen to that.
- A skipped update gets zeros or no gradient, never NaN.
- The host never waits for a number of the device, as it does in `torch.cond`, which the documentation suggests.
- The rms is float32 for any dtype, and never computed in float16 or bfloat16: 300² is too much. The result is like x.
- x and update stay as they are.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def bounded_residual(
    x: Float[Tensor, "*shape"], update: Float[Tensor, "*shape"], limit: float = 1.0
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, ""]]:
    """Add an update whose root mean square is at most `limit`; return the sum and the rms."""
    rms = update.float().square().mean().sqrt().item()
    print(f"rms of the update: {rms:.3f}")
    if not math.isfinite(rms):
        return x, torch.tensor(rms, device=x.device)
    if rms > limit:
        update = update * (limit / rms)
    return x + update, torch.tensor(rms, device=x.device)


if __name__ == "__main__":
    fast = torch.compile(
        bounded_residual, fullgraph=True, backend="eager"
    )  # eager: captures, and generates no code
    print(fast(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -3.0]])))
