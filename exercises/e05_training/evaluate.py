"""Evaluate on held-out data: every example counts the same.

After an epoch you want one number that says how good the model is. Write the loop that gives it: the mean loss over
all examples of `batches`, in evaluation mode, as a Python float.

    model = torch.nn.Identity()
    batches = [(torch.tensor([[1.0], [1.0], [1.0]]), torch.zeros(3, 1)),     # mean loss 1, three examples
               (torch.tensor([[3.0]]), torch.zeros(1, 1))]                   # mean loss 9, one example
    evaluate(model, torch.nn.functional.mse_loss, batches)                   # (3 · 1 + 1 · 9) / 4 = 3.0

- loss_fn gives the mean loss of a batch, and a batch has `len(targets)` examples: a short one counts for less.
- All layers run in evaluation mode, and neither model nor loss_fn records a graph.
- Weights, statistics and `.grad` stay as they are.

Many tutorials add up the batches' means and divide by the number of batches. That is (1 + 9) / 2 = 5.0 here, and
changes with the way in which the data are cut.

Fine print:
- Afterwards each layer has the mode that it had before: a model that trains goes on training, with a frozen batch norm
  still in evaluation mode. (PyTorch's examples leave it in evaluation mode: that does the job.)
- The modes come back after an error, too, whether the model, loss_fn or the batches raise it.
- ValueError if there are no examples at all. A batch without examples counts for nothing, though its mean is NaN.
- A NaN in any other batch is not hidden.
- The sum is kept in Python floats: small losses after a large one are not lost, and float16 does not overflow.
- batches may be a generator and hold more than memory does: once through, and nothing of a batch is kept.
- Inputs are whatever the model takes, such as a dict. Call the model itself: `model.forward` skips hooks.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def evaluate(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Tensor],
    batches: Iterable[tuple[Any, Shaped[Tensor, "batch *labels"]]],
) -> float:
    """The mean loss over all examples of `batches`, in evaluation mode."""
    raise NotImplementedError
