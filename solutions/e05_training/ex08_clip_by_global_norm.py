"""Keep one bad batch from throwing the weights away: bound the length of the whole gradient.

After the backward, all gradients together are one long vector. If it is longer than max_norm, every gradient
shrinks by the same factor, so the direction stays what it was:

    w, b = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(()))
    w.grad, b.grad = torch.tensor([2.0, -6.0]), torch.tensor(9.0)
    norm = clip_by_global_norm([w, b], max_norm=1.1)    # tensor(11.), the root of 4 + 36 + 81
    w.grad, b.grad                                      # tensor([0.2, -0.6]), tensor(0.9): ten times less

Write it without `torch.nn.utils`, whose `clip_grad_norm_` nearly does it.

Rules:
- The norm is the root of the sum of the squares of all elements of all gradients. Each gradient is multiplied
  by min(1, max_norm / (norm + 1e-6)). The values of the parameters themselves play no part.
- The norm is computed in float32, or in float64 where one of the gradients is float64: half-precision
  gradients are squared and added up in float32, where 300² is no overflow. It comes back as it was before the
  clipping, a tensor without dimensions, in this dtype, on the gradients' device, and without a graph.
- Gradients change in place: same objects, same memory, same dtypes, also where they are parts of one large
  buffer (in which nothing else changes), transposed, without dimensions, or empty. No graph is recorded.
- A parameter whose `.grad` is None is left alone. If there is none with a gradient, the norm is 0 in float32.
- If the norm is inf or NaN, no gradient changes, the finite ones neither: the caller can skip the step.
- max_norm may be 0 (all become 0) and inf (none changes). ValueError if it is negative or NaN.
- All lie on one device, and the host never waits for it. The number of operations does not grow with the
  number of parameters (views are free): the functions `torch._foreach_…` take a list of tensors at once.
- params is any iterable, such as the generator `model.parameters()`.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


@torch.no_grad()
def clip_by_global_norm(params: Iterable[Float[Tensor, "..."]], max_norm: float) -> Float[Tensor, ""]:
    """Shrink all gradients by one factor, in place, so that their common norm is at most `max_norm`.

    Args:
        params: tensors of any shapes and dtypes, with gradients in `.grad` or None there.
        max_norm: the greatest norm that stays as it is, 0 or above.

    Returns:
        The norm before, (), float32 or float64.

    Raises:
        ValueError: max_norm is negative or NaN.
    """
    if not max_norm >= 0:  # written so that NaN is caught
        raise ValueError(f"max_norm must be 0 or above, got {max_norm}")
    grads = [p.grad for p in params if p.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    exact = any(g.dtype == torch.float64 for g in grads)
    norms = torch._foreach_norm(grads, 2, dtype=torch.float64 if exact else torch.float32)  # each ()
    norm = torch.linalg.vector_norm(torch.stack(norms))  # ()
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)  # (), and NaN or 0 where the norm is not finite
    factor = factor.masked_fill(~norm.isfinite(), 1.0)  # decided on the device: nobody waits
    torch._foreach_mul_(grads, factor)
    return norm
