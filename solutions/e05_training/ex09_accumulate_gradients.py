"""One large batch in small pieces: the same step, with the memory of a piece.

A batch that does not fit into the device's memory is cut into pieces. Their gradients add up, and one step of
the optimizer uses the sum. Done right, it is the step that the whole batch would have taken:

    model = torch.nn.Linear(1, 1, bias=False)        # holds one weight; say that it is 1.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pieces = [(torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1)), (torch.tensor([[4.0]]), torch.zeros(1, 1))]
    accumulated_step(model, torch.nn.functional.mse_loss, optimizer, pieces)     # 7.0, (1² + 2² + 4²) / 3
    # gradient 2 · (1 + 4 + 16) / 3 = 14, weight 1.0 - 0.1 · 14 = -0.4
    # not the mean of the losses of the pieces, 2.5 and 16: the second is half as large

Rules:
- `loss_fn(model(inputs), targets)` is the mean loss over the examples of one piece. Loss and gradients are
  those of the mean over all examples of all pieces: each example counts the same, however large its piece is.
  A piece has as many examples as its targets have rows (first dimension).
- Model and loss_fn run once on each piece, in order, and never see two at once. At any moment the graph of at
  most one piece is alive: what it saved is free again before the model runs on the next.
- `optimizer.step` runs once, at the end. When accumulated_step returns, `.grad` of each parameter that the
  optimizer holds is the gradient of the whole batch. Earlier gradients have no influence. A parameter on
  which the loss of no piece depends has None there, and stays where it is despite momentum and decay; one
  that only some pieces use gets their gradients.
- A piece without examples is passed over: neither model nor loss_fn sees it. If there is no example at all
  (or no piece), ValueError is raised before anything changes: weights, `.grad`, the optimizer's state.
- The result is a plain Python float, the loss of the whole batch before the step. Reading it is the one time
  that the host waits for the device. All stays in the dtype of the loss and the parameters.
- Modes belong to the caller. Nothing is clipped, and a loss of inf or NaN does not stop the step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def accumulated_step(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    pieces: Sequence[tuple[Shaped[Tensor, "examples *features"], Shaped[Tensor, "examples *labels"]]],
) -> float:
    """Move the parameters of `optimizer` by one step on one batch that comes in pieces.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets to the mean loss over the piece, without dimensions.
        optimizer: holds the parameters to move.
        pieces: inputs and targets, of unequal numbers of examples.

    Returns:
        The mean loss over all examples, before the step.

    Raises:
        ValueError: there is no example.
    """
    count = sum(len(targets) for _, targets in pieces)
    if count == 0:
        raise ValueError("there is no example in any piece")
    optimizer.zero_grad()  # once for all pieces, and to None
    total: Any = 0
    for inputs, targets in pieces:
        if len(targets) == 0:
            continue  # its mean would be 0 / 0
        loss = loss_fn(model(inputs), targets) * (len(targets) / count)  # (), the piece's share
        loss.backward()  # adds to .grad, and frees this graph
        total = total + loss.detach()  # on the device; with its graph it would keep every activation
    optimizer.step()
    return float(total)
