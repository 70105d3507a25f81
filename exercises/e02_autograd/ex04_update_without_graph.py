"""One step of gradient descent by hand, and the graph must not see it.

After `loss.backward()` each parameter p moves to p - lr · (gradient + weight_decay · p):

    w = torch.tensor([1.0, -2.0], requires_grad=True)
    (w * w).sum().backward()                    # w.grad is [2, -4]
    sgd_step([w], lr=0.1)                       # 1: one parameter moved, w is [0.8, -1.6] now
    sgd_step([w], lr=0.1, weight_decay=0.5)     # [0.8, -1.6] - 0.1 · ([2, -4] + [0.4, -0.8]) = [0.56, -1.12]

With the code below the loss stays the same for ever: the new tensors go nowhere. With `p -= …` in its place
it raises "a leaf Variable that requires grad is being used in an in-place operation". Putting the new tensors
into the model instead worked for one step; in the second their `.grad` was None.

Rules:
- A step writes to the memory that the parameters have. All who hold a parameter see it move: the model, a
  view of it, the large buffer that it may be a part of (where nothing else changes).
- A parameter stays what it was: the same object, a leaf, with the same `requires_grad`. It carries no graph,
  even if its gradient does, so the next backward ends at it as before.
- A parameter whose `.grad` is None stays exactly as it is. All others move, also one that has been frozen
  since it got its gradient. No `.grad` is written to, cleared or replaced.
- Autograd counts the writes to a tensor, and must count this one, with an lr of 0 too. Where a graph from
  before the step has saved a parameter, as that of (w * w).sum() has, its backward must now raise an error:
  with the new numbers it would give wrong gradients in silence. (A write through `p.data` is not counted.)
- It is called inside and outside of `torch.no_grad()`, and leaves that mode as it is, also where params
  raises an error.
- params may be any iterable, also a generator such as `model.parameters()`, or empty; no parameter is in it
  twice. Each keeps its dtype and device, whatever its strides. Gradients are dense. lr and weight_decay are
  numbers, zero or above.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def sgd_step(params: Iterable[Float[Tensor, "..."]], lr: float, weight_decay: float = 0.0) -> int:
    """Move each parameter against its gradient, in place.

    Args:
        params: leaves of any shape, with gradients in `.grad` or None there.
        lr: the learning rate.
        weight_decay: how much of a parameter is added to its gradient.

    Returns:
        How many parameters had a gradient.
    """
    moving = [p for p in params if p.grad is not None]
    for p in moving:
        p = p - lr * (p.grad + weight_decay * p)
    return len(moving)
