"""One gradient for each batch: `backward` adds to what is there, it does not replace it.

Do two batches pull the weights the same way? To find out, take the gradient of each batch by itself. With a single
weight of 2, and the mean squared error as loss:

    model = torch.nn.Linear(1, 1, bias=False)      # say that model.weight is [[2.0]]
    first = (torch.tensor([[1.0]]), torch.tensor([[1.0]]))      # error 1, gradient 2 · 1 · 1 = 2
    second = (torch.tensor([[3.0]]), torch.tensor([[2.0]]))     # error 4, gradient 2 · 4 · 3 = 24
    batch_gradients(model, torch.nn.functional.mse_loss, [first, second])
    # [{"weight": tensor([[2.]])}, {"weight": tensor([[24.]])}]

The first try below reports 26 for both batches. Called once more it reports 52, and even the 26s in the first report
have turned to 52.

- The loss of a batch is `loss_fn(model(inputs), targets)`. Each dict has the gradients of the parameters, by name.
- Earlier batches, earlier calls and what lay in `.grad` before have no influence.
- What was reported stays the same, whatever happens later.

Fine print:
- This only measures: afterwards the `.grad` of each parameter is the tensor that it was, or None.
- No other tensor gets a `.grad`, such as a temperature in loss_fn or inputs that require gradients.
- Frozen parameters do not appear; one that a batch does not use has zeros; one that two layers share appears once.
- The model itself runs once for each batch, in the mode that it is in. batches may come from a generator, or be empty.
- Gradients have the dtype and the device of their parameter, and carry no graph.
"""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Shaped
from torch import Tensor, nn

Batch = tuple[Shaped[Tensor, "batch *features"], Shaped[Tensor, "batch *labels"]]


def batch_gradients(
    model: nn.Module, loss_fn: Callable[[Tensor, Tensor], Tensor], batches: Iterable[Batch]
) -> list[dict[str, Tensor]]:
    """The gradient of the loss with respect to the model's parameters, batch by batch."""
    found = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        found.append({name: p.grad for name, p in model.named_parameters()})
    return found
