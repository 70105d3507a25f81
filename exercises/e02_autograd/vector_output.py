"""Backward from many numbers at once: a weight for each.

A model gives one loss per example, and some examples count more than others. `losses.backward()` raises
"grad can be implicitly created only for scalar outputs": from many numbers, backward needs a weight for each.

    w = torch.tensor([1., 2., 3.], requires_grad=True)
    weighted_backward(w ** 2, torch.tensor([1., 0., 0.5]))          # w.grad is [2, 0, 3]
    weighted_backward(w ** 2)                                       # each counts 1: adds [2, 4, 6]

    fn = lambda x: torch.stack([x[0] * x[1], x.sum()])
    vjp(fn, torch.tensor([2., 3.]), torch.tensor([1., 10.]))        # ([6, 5], [13, 12])

- `weighted_backward` adds the gradient of the weighted sum to each `.grad`, as `loss.backward()` does.
- `vjp` returns fn(x) and the gradient for x of the sum of v[i] · fn(x)[i]: the vector-Jacobian product.
- `vjp` adds to no `.grad`: neither to that of x nor to those of the parameters that fn uses.
- Weights have the shape of what they weigh, which may be any. One backward pass: no loop over the numbers.

Fine print:
- Weights are constants: they get no gradient, even if they require one.
- Any other shape raises ValueError (or torch's RuntimeError), even if it would broadcast; no `.grad` changes.
- `vjp` works inside `torch.no_grad()`, too, and leaves x as it is, `requires_grad` included.
- The two results of `vjp` require no gradient. Where fn(x) does not depend on x, the second is zeros.
- What lies on another device stays there.
"""

from collections.abc import Callable

from jaxtyping import Float, Shaped
from torch import Tensor


def weighted_backward(
    losses: Float[Tensor, "*batch"], weights: Shaped[Tensor, "*batch"] | None = None
) -> None:
    """Add the gradient of the weighted sum of `losses` to each `.grad`; None stands for weights of 1."""
    raise NotImplementedError


def vjp(
    fn: Callable[[Tensor], Tensor], x: Float[Tensor, "*inputs"], v: Shaped[Tensor, "*outputs"]
) -> tuple[Float[Tensor, "*outputs"], Float[Tensor, "*inputs"]]:
    """The value of `fn` at `x`, and the vector-Jacobian product of `v` there."""
    raise NotImplementedError
