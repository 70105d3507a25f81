"""Gradients at every layer: `.grad` of what is no leaf is None, unless it is asked for.

In a deep network the gradient may fade on its way back. To see where, keep it at each activation, in the backward pass
that trains the network:

    double, shift = (lambda h: 2 * h), (lambda h: h + 1)
    x = torch.tensor([[1.0, -3.0]])                        # double: [2, -6], shift: [3, -5]
    backward_with_activations([double, shift], x, lambda h: h.square().sum())
    # [[[12., -20.]], [[6., -10.]], [[6., -10.]]]: at x, behind double, behind shift

The code below finds the gradient at x, and None for all others. It also leaves x requiring gradients, and reports
[[24., -40.]] for it in a second call.

- The list has the gradient at inputs, then at each layer's output. The loss is loss_fn of the last.
- Parameters have their gradients in `.grad`, as by `loss.backward()`.
- Where inputs requires no gradients, it stays so, and has no `.grad`. A second call reports the same.

Fine print:
- Where inputs requires gradients they flow on: a leaf (a tensor that no operation has made) has them added to its
  `.grad`, and the result of other operations passes them on. The list has those of this call alone.
- Gradients are added to what lies in the `.grad` of parameters; frozen parameters get none.
- A layer may return its input as it is, or come twice; there may be no layers. Shape and dtype may change on the way.
- The gradients carry no graph, and never change later.
- Layers and loss_fn run once, and one backward walks through them once.
"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor


def backward_with_activations(
    layers: Sequence[Callable[[Tensor], Tensor]],
    inputs: Float[Tensor, "..."],
    loss_fn: Callable[[Tensor], Float[Tensor, ""]],
) -> list[Tensor]:
    """Run forward and backward, and keep the gradient at each activation."""
    h = inputs.requires_grad_()
    activations = [h]
    for layer in layers:
        h = layer(h)
        activations.append(h)
    loss_fn(h).backward()
    return [h.grad for h in activations]
