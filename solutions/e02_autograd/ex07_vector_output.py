"""Backward from many numbers at once: vector-Jacobian products.

A model gives one loss per example, and some examples count more than others. `losses.backward()` raises
"grad can be implicitly created only for scalar outputs": backward needs a weight for each number that it
starts from.

    w = torch.tensor([1., 2., 3.], requires_grad=True)
    weighted_backward(w ** 2, torch.tensor([1., 0., 0.5]))          # w.grad is [2, 0, 3]

    fn = lambda x: torch.stack([x[0] * x[1], x.sum()])              # J = [[x1, x0], [1, 1]]
    vjp(fn, torch.tensor([2., 3.]), torch.tensor([1., 10.]))        # ([6, 5], [13, 12]): fn(x) and v @ J

Rules for both:
- Weights have the shape of what they weigh, whatever it is (0-d and many dimensions too). Any other shape
  gets a ValueError, also one that would broadcast, and then no gradient has changed anywhere.
- They may be of another dtype, bool and integers included: a weight counts as its number in the dtype of
  what it weighs. They are constants: no gradient flows to them, even where they require one.
- One backward pass does it, however many numbers there are: no loop over them.

`weighted_backward` adds to the `.grad` of the leaves, and frees the graph, as `loss.backward()` does. `vjp`
leaves no trace: not on x (neither its values, `.grad` nor `requires_grad`), not in the `.grad` of parameters
that fn uses. It works whether or not x requires a gradient, is part of a graph, or `torch.no_grad()` is on
around it, and leaves that mode as it is, after an error too. It calls fn once, and differentiates by its
argument: where fn looks at x besides, that is a constant. Both of its results are constants: they do not
require gradients. Where fn(x) does not depend on x at all, the product is zeros.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def weighted_backward(
    losses: Float[Tensor, "*batch"], weights: Shaped[Tensor, "*batch"] | None = None
) -> None:
    """Add the gradient of the weighted sum of `losses` to the `.grad` of each leaf they depend on.

    Args:
        losses: one loss per example, with a graph.
        weights: how much each loss counts; None stands for 1 each.

    Raises:
        ValueError: weights of another shape than losses.
    """
    if weights is None:
        weights = torch.ones_like(losses)
    losses.backward(gradient=_weights_for(losses, weights))


def vjp(
    fn: Callable[[Tensor], Tensor], x: Float[Tensor, "*inputs"], v: Shaped[Tensor, "*outputs"]
) -> tuple[Float[Tensor, "*outputs"], Float[Tensor, "*inputs"]]:
    """The value of `fn` at `x`, and the vector-Jacobian product of `v` there.

    Args:
        fn: takes a tensor like x and returns one tensor of floats, of any shape and dtype.
        x: where to differentiate.
        v: one weight for each number of fn(x).

    Returns:
        fn(x); and the sum over outputs i of v[i] times the gradient of fn(x)[i], which has the shape,
        dtype and device of x.

    Raises:
        ValueError: v of another shape than fn(x).
    """
    leaf = x.detach().requires_grad_()  # x itself stays as it is
    with torch.enable_grad():
        y = fn(leaf)  # (*outputs)
    weights = _weights_for(y, v)
    if not y.requires_grad:  # a constant: there is no graph to walk
        return y, torch.zeros_like(x)
    (product,) = torch.autograd.grad(y, leaf, weights, materialize_grads=True)  # (*inputs)
    return y.detach(), product


def _weights_for(outputs: Tensor, weights: Tensor) -> Tensor:
    if weights.shape != outputs.shape:
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} for outputs of shape {tuple(outputs.shape)}"
        )
    return weights.detach().to(outputs.dtype)
