"""Memory that climbs: what a trainer keeps of each step.

A trainer feeds a dashboard: the latest losses and their smoothed value, how active each layer is, and the
first prediction of each of the latest batches. After an hour it has eaten 40 GB; and every step takes longer
than the one before it. Nothing in it looks large:

    model = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU())       # weights 2 and -1
    trainer = Trainer(model, mse_loss, torch.optim.SGD(model.parameters(), lr=0.0), window=2)
    trainer.step(torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0, 0.0], [6.0, 2.0]]))      # 1.0
    trainer.step(torch.tensor([[2.0]]), torch.tensor([[4.0, 0.0]]))                         # 0.0
    trainer.report()
    # losses [1.0, 0.0], smoothed 0.9 × 1.0 + 0.1 × 0.0 = 0.9, samples [[2, 0], [4, 0]]
    # activity of the last step: {"0": 3.0, "1": 2.0}, of outputs [[4, -2]] and [[4, 0]]

Find all that outlives its step, and mend it. What is reported stays as it is.

Rules:
- Between steps no graph, input, target, activation or whole output is held, nor the memory of one: only the
  numbers to report and the gradients of the parameters. What is left grows neither with the size of a batch
  nor, from `window` steps on, with the number of steps. (What `mse_loss` returns can be one number in the
  memory of a whole batch, which `detach` shares.) The same holds after a step that raised an error, which
  reaches the caller as it is.
- Between steps, also after one that raised, no hook of the trainer is on the model, its layers or
  parameters: others copy and pickle them. Hooks that others have put there stay. A step watches the layers
  that the model has then.
- step returns the loss as a Python float, and takes one step of the optimizer with the gradient of this loss
  alone. The model runs once, in the caller's mode.
- losses and samples show the latest `window` steps, the oldest first: Python floats, and the first row of
  the outputs in their dtype, without a graph. smoothed is a float: the first loss, from which each later
  loss takes a tenth. A step that raised is not among them.
- activity shows the last step only: for each layer (a module without children) under its name in
  `named_modules()`, the mean of the absolute values of its output as it came out, a float. A layer that did
  not run or whose output is no tensor is left out; of one that ran twice the last call counts.
- What report returns is the caller's: it may be changed, and later steps do not change it. Before the first
  step there is nothing to show: [], None, {} and [].
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Trainer:
    """Trains a model, and keeps what the dashboard shows.

    Args:
        model: maps inputs to outputs, (batch, …).
        loss_fn: maps outputs and targets to the loss, without dimensions.
        optimizer: holds the parameters to move.
        window: how many of the latest steps are shown, 1 or more.
    """

    def __init__(
        self,
        model: nn.Module,
        loss_fn: Callable[[Tensor, Tensor], Tensor],
        optimizer: torch.optim.Optimizer,
        window: int = 100,
    ) -> None:
        self.model, self.loss_fn, self.optimizer, self.window = model, loss_fn, optimizer, window
        self.losses: deque[float] = deque(maxlen=window)
        self.samples: deque[Tensor] = deque(maxlen=window)
        self.smoothed: float | None = None
        self.activity: dict[str, float] = {}

    def step(self, inputs: Tensor, targets: Tensor) -> float:
        """Take one step of the optimizer; the loss before it."""
        self.activity = {}
        handles = [
            layer.register_forward_hook(self._watch(name))
            for name, layer in self.model.named_modules()
            if not list(layer.children())
        ]
        try:
            outputs = self.model(inputs)  # (batch, …)
        finally:
            for handle in handles:
                handle.remove()
        loss = self.loss_fn(outputs, targets)  # ()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        value = loss.item()
        self.losses.append(value)
        self.samples.append(outputs[0].detach().clone())  # a row by itself: a view would hold the whole batch
        self.smoothed = value if self.smoothed is None else 0.9 * self.smoothed + 0.1 * value
        return value

    def report(self) -> dict[str, Any]:
        """The numbers to show: "losses", "smoothed", "activity" and "samples"."""
        return {
            "losses": list(self.losses),
            "smoothed": self.smoothed,
            "activity": dict(self.activity),
            "samples": [row.clone() for row in self.samples],
        }

    def _watch(self, name: str) -> Callable[..., None]:
        """A hook that notes how active the layer is."""

        def hook(layer: nn.Module, inputs: Any, output: Any) -> None:
            if isinstance(output, Tensor):
                self.activity[name] = output.detach().abs().mean().item()

        return hook
