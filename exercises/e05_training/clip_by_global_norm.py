"""Keep one bad batch from throwing the weights away: bound the length of the whole gradient.

After the backward, all gradients together are one long vector. If it is longer than max_norm, every gradient shrinks by
the same factor, so the direction stays what it was:

    w, b = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(()))
    w.grad, b.grad = torch.tensor([2.0, -6.0]), torch.tensor(9.0)
    norm = clip_by_global_norm([w, b], max_norm=1.1)    # tensor(11.), the root of 4 + 36 + 81
    w.grad, b.grad                                      # tensor([0.2, -0.6]), tensor(0.9): ten times less

- The norm is the root of the sum of the squares of all numbers in all gradients. It is returned as it was before.
- Each gradient is multiplied by max_norm / norm, and stays as it is where this is 1 or more.
- A parameter whose `.grad` is None is left alone. params may be a generator, such as `model.parameters()`.
- Without `torch.nn.utils`.

Fine print:
- The divisor is norm + 1e-6, as in PyTorch, which shows where gradients are small.
- Gradients change in place, in the memory that they have: they may be parts of a large buffer, or transposed.
- The norm is a tensor on the gradients' device, in float32, or float64 where one of them is: 300² is too much for float16.
- If the norm is inf or NaN, no gradient changes: the caller can skip the step.
- max_norm may be 0 and inf; ValueError if it is negative or NaN. Without any gradient the norm is 0, in float32.
- Nothing is recorded by autograd, and the norm carries no graph.
- Nothing is copied to the CPU on the way: no `if` on a tensor. The number of operations does not grow with the number of
  parameters: `torch._foreach_norm` and `torch._foreach_mul_` take a list of tensors at once.
"""

from collections.abc import Iterable

from jaxtyping import Float
from torch import Tensor


def clip_by_global_norm(params: Iterable[Float[Tensor, "..."]], max_norm: float) -> Float[Tensor, ""]:
    """Shrink all gradients so that their common norm is at most `max_norm`; the norm before, 0-d."""
    raise NotImplementedError
