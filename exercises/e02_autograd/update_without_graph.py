"""One step of gradient descent by hand, and the graph must not see it.

After `loss.backward()` each parameter p moves to p - lr · (gradient + weight_decay · p), in place:

    w = torch.tensor([1.0, -2.0], requires_grad=True)
    (w * w).sum().backward()                    # w.grad is [2, -4]
    sgd_step([w], lr=0.1)                       # 1: one parameter moved, w is [0.8, -1.6] now

With the code below the loss stays the same for ever: the new tensors go nowhere. With `p -= …` in its place it raises
"a leaf Variable that requires grad is being used in an in-place operation".

- The caller's own tensors move. They require gradients as before, and the next `backward()` fills their `.grad`.
- A parameter whose `.grad` is None stays as it is, and does not count.
- params is a list, or a generator such as `model.parameters()`.

Fine print:
- A write through `p.data` is hidden from autograd: where a graph from before the step still needs the old numbers, its
  backward gives wrong gradients in silence. A write under `torch.no_grad()` is counted, and that backward raises.
- The memory stays the same, too: a parameter may be a part of a large buffer, or transposed.
- No `.grad` is written to, cleared or replaced. (d2l.ai's step clears it; `zero_grad` does this here.)
- A frozen parameter that still has a gradient moves as well. A gradient of zeros is a gradient.
- It works inside and outside of `torch.no_grad()`, and leaves that mode as it is.
- Each parameter keeps its dtype; float64 and bfloat16 may be mixed.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def sgd_step(params: Iterable[Float[Tensor, "..."]], lr: float, weight_decay: float = 0.0) -> int:
    """Move each parameter against its gradient, in place; how many moved."""
    moving = [p for p in params if p.grad is not None]
    for p in moving:
        p = p - lr * (p.grad + weight_decay * p)
    return len(moving)
