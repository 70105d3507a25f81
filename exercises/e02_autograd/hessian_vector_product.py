"""How sharply does the loss curve? The Hessian times a vector.

The Hessian H of a loss holds its second derivatives, n² for n parameters: too many. But H v is the gradient of (gradient ·
v), which costs two backward passes (Pearlmutter 1994). Power iteration needs no more to find the largest curvature, which
limits learning rates.

    loss = lambda a, b: a * a * b + b**3       # at a=2, b=3 H is [[6, 4], [4, 18]]
    a, b = (torch.tensor(t, requires_grad=True) for t in (2.0, 3.0))
    hvp(loss, [a, b], [torch.tensor(1.0), torch.tensor(10.0)])           # [46, 184]
    sharpness(loss, [a, b], [torch.tensor(1.0), torch.tensor(1.0)])      # 19.2111, the larger eigenvalue

- `loss(*params)` is one number. H is that of all parameters together: b counts in the product for a.
- H is never computed, whole or by rows. Differences of gradients are too coarse for float64.
- `sharpness` begins with v = start / ‖start‖, takes v = H v / ‖H v‖ `steps` times, and returns v · H v.
- Norm and product are over the numbers of all tensors.

Fine print:
- Parameters that loss does not use, or uses linearly, have zeros in H. With H v = 0 the sharpness is 0.
- Parameters need not require gradients, and the caller may have switched gradients off.
- Results carry no graph; no `.grad` changes, and all arguments stay as they are.
- float64 stays float64.
"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor


def hvp(loss: Callable[..., Tensor], params: Sequence[Tensor], vectors: Sequence[Tensor]) -> Sequence[Tensor]:
    """The Hessian at params times vectors: a tensor for each parameter, of its shape."""
    raise NotImplementedError


def sharpness(
    loss: Callable[..., Tensor], params: Sequence[Tensor], start: Sequence[Tensor], steps: int = 10
) -> Float[Tensor, ""]:
    """The eigenvalue of the Hessian that is largest in size, by so many steps of power iteration."""
    raise NotImplementedError
