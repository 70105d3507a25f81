"""A large batch in small pieces: the same step, with the memory of a piece.

A batch that does not fit into memory is cut into pieces. Take the step of `optimizer` that the whole batch would
have taken, and return the whole batch's loss before it, as a float.

    model = torch.nn.Linear(1, 1, bias=False)        # holds one weight; say that it is 1.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pieces = [(torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1)), (torch.tensor([[4.0]]), torch.zeros(1, 1))]
    accumulated_step(model, torch.nn.functional.mse_loss, optimizer, pieces)     # 7.0, (1² + 2² + 4²) / 3
    # gradient 2 · (1 + 4 + 16) / 3 = 14, weight 1.0 - 0.1 · 14 = -0.4

- `loss_fn` gives the mean over a piece; wanted is the mean over all examples (rows of targets).
- Dividing by the number of pieces, as nanoGPT does, is right only for equal ones.
- Call backward on each piece before the model runs on the next.
- Model and loss_fn run once on each piece, in order, `optimizer.step` once, at the end.
- Gradients of earlier calls have no influence.

Fine print:
- Memory holds the graph of one piece at a time, and no graph outlives its piece: add up numbers or
  `loss.detach()`, since a sum or list of losses holds every graph.
- Clear first, and let the optimizer clear: it may hold a parameter of loss_fn. What lay in `.grad` has no influence, and
  the gradients of the whole batch stay there afterwards.
- A parameter that no piece uses has None in `.grad`, and stays where it is.
- A piece without examples is passed over: neither model nor loss_fn sees it.
- ValueError where there is no example at all, before anything changes.
- The rows of targets count also where inputs have the examples in another dimension, or targets differ in width.
- A loss in float64 keeps its digits.
- As in `train_step`: modes and pieces are left alone, hooks run, nothing is clipped, inf or NaN stops nothing.
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
    """Move what `optimizer` holds by one step on one batch that comes in pieces; return the loss before it."""
    raise NotImplementedError
