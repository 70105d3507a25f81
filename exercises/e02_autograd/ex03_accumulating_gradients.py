"""One gradient for each batch: `backward` adds to what is there, it does not replace it.

Do two batches pull the weights the same way? To find out, take the gradient of each batch by itself. With
a single weight of 2, and the mean squared error as loss:

    model = torch.nn.Linear(1, 1, bias=False)      # say that model.weight is [[2.0]]
    first = (torch.tensor([[1.0]]), torch.tensor([[1.0]]))      # error 1, gradient 2 · 1 · 1 = 2
    second = (torch.tensor([[3.0]]), torch.tensor([[2.0]]))     # error 4, gradient 2 · 4 · 3 = 24
    batch_gradients(model, torch.nn.functional.mse_loss, [first, second])
    # [{"weight": tensor([[2.]])}, {"weight": tensor([[24.]])}]

The first try at this reported 26 for both batches. Called once more it reported 52, and even the 26s in the
first report had turned to 52. When training went on afterwards, its next step was far too large.

Rules:
- The loss of a batch is `loss_fn(model(inputs), targets)`, a tensor without dimensions. It depends on one
  trainable parameter or more, through the predictions alone. The model itself, no copy of it, runs once for
  each batch, in the mode that it is in. batches may be any iterable, also a generator, or empty.
- Each dict has the names of `model.named_parameters()` that require gradients, and their gradients in their
  shape, dtype and device: zeros for a parameter that the loss of this batch does not depend on. Frozen
  parameters do not appear.
- A gradient is that of its batch alone: earlier batches, earlier calls and what lies in `.grad` have no
  influence. Nor does it change later, whatever happens to `.grad`, to what another batch got, and in further
  calls.
- This only measures. Afterwards, also after an error in the model or in loss_fn, all parameters and their
  `.grad` are as they were: None is still None, a tensor the same tensor. So are tensors outside of the
  model, such as a temperature or inputs that require gradients.
- The gradients carry no graph.
"""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Shaped
from torch import Tensor, nn

Batch = tuple[Shaped[Tensor, "batch *features"], Shaped[Tensor, "batch *labels"]]


def batch_gradients(
    model: nn.Module, loss_fn: Callable[[Tensor, Tensor], Tensor], batches: Iterable[Batch]
) -> list[dict[str, Tensor]]:
    """The gradient of the loss with respect to the model's parameters, batch by batch.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets, in this order, to a loss without dimensions.
        batches: pairs of inputs and targets.

    Returns:
        For each batch the gradient of each trainable parameter, by name.
    """
    found = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        found.append({name: p.grad for name, p in model.named_parameters()})
    return found
