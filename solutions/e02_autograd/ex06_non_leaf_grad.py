"""Gradients at every layer: `.grad` of what is no leaf is None, unless it is asked for.

In a deep network the gradient may fade on its way back. To see where, keep the gradient at each activation
in the same backward pass that trains the network:

    double, shift = (lambda h: 2 * h), (lambda h: h + 1)
    x = torch.tensor([[1.0, -3.0]])                        # double: [2, -6], shift: [3, -5]
    backward_with_activations([double, shift], x, lambda h: h.square().sum())
    # [[[12., -20.]], [[6., -10.]], [[6., -10.]]]: at x, behind double, behind shift

The code below finds the gradient at x, and None for all others, with a warning about "the .grad attribute of
a Tensor that is not a leaf". It also leaves x requiring gradients, and a second call with the same x reports
[[24., -40.]] for it, even in the list that the first call has returned.

Rules:
- h starts as inputs and passes through the layers in order; the loss is loss_fn of the last h, 0-d. The
  result lists the gradient of the loss at inputs and at the output of each layer, in this order: one more
  than there are layers. A layer may return its input as it is; there may be no layers at all.
- All else goes as in `loss.backward()`, hooks too. Layers and loss_fn run once in a call, and there is one
  backward. Parameters have their gradients added to what is in `.grad`; frozen ones get none.
- Where inputs requires gradients, they flow on: a leaf has them added to its `.grad`, and the result of other
  operations passes them on to where it comes from. Where it does not, it is as before afterwards, also where
  a layer or loss_fn raises an error: it requires none and has no `.grad`.
- The gradients in the list are those of this call alone. They carry no graph, and never change later,
  whatever happens to `.grad` and in further calls.
- inputs is floating, has any shape and any strides, and is not written to. A layer is any function of one
  tensor (a module too) through which gradients flow and that does not write to its input.
"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor


def backward_with_activations(
    layers: Sequence[Callable[[Tensor], Tensor]],
    inputs: Float[Tensor, "..."],
    loss_fn: Callable[[Tensor], Float[Tensor, ""]],
) -> list[Tensor]:
    """Run forward and backward, and keep the gradient at each activation.

    Args:
        layers: what the inputs pass through, in order.
        inputs: what goes into the first layer, of any shape.
        loss_fn: maps the last output to a loss without dimensions.

    Returns:
        The gradient of the loss at inputs, and at the output of each layer: each in the shape and dtype
        of what it belongs to.
    """
    start = inputs if inputs.requires_grad else inputs.detach().requires_grad_()  # the caller's flag stays
    h = start.view_as(start)  # no leaf, so that its .grad is that of this call
    activations = [h]
    for layer in layers:
        h = layer(h)
        activations.append(h)
    for h in activations:
        h.retain_grad()  # before the backward; what is no leaf would keep none
    loss_fn(activations[-1]).backward()
    return [h.grad for h in activations]
