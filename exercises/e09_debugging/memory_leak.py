"""Memory that climbs: what a trainer keeps of each step.

A trainer feeds a dashboard: the latest `window` losses, their smoothed value, how active each layer was in the last
step, and the first prediction of each of the latest batches. After an hour it has eaten 40 GB, and steps take longer:

    model = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU())       # weights 2 and -1
    trainer = Trainer(model, mse_loss, torch.optim.SGD(model.parameters(), lr=0.0), window=2)
    trainer.step(torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0, 0.0], [6.0, 2.0]]))      # 1.0
    trainer.step(torch.tensor([[2.0]]), torch.tensor([[4.0, 0.0]]))                         # 0.0
    trainer.report()
    # losses [1.0, 0.0], smoothed 0.9 × 1.0 + 0.1 × 0.0 = 0.9, samples [[2, 0], [4, 0]]
    # activity of the last step: {"0": 3.0, "1": 2.0}, of outputs [[4, -2]] and [[4, 0]]

Find what outlives its step, and mend it. Training and what is reported stay as they are.

- After a step no graph of it is held: by no loss, no activity, no sample.
- The model does not get more hooks from step to step.

Fine print:
- After a step nothing else of its batch is held either, nor its memory. `detach` lets go of the graph and shares the
  memory: a row is a view of the whole output, and `mse_loss` may return one number in the memory of a whole batch.
- From `window` steps on, what is held does not grow.
- Between steps no hook of the trainer is on the model, which others copy and pickle. Hooks of others stay.
- All this holds after a step that raised, too. Its error comes out; losses, samples and smoothed are without it.
- What report returns is the caller's: it may be changed, and later steps do not change it.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Trainer:
    """Trains a model, and keeps what the dashboard shows: of the latest `window` steps, 1 or more."""

    def __init__(
        self,
        model: nn.Module,
        loss_fn: Callable[[Tensor, Tensor], Tensor],
        optimizer: torch.optim.Optimizer,
        window: int = 100,
    ) -> None:
        self.model, self.loss_fn, self.optimizer, self.window = model, loss_fn, optimizer, window
        self.losses: list[Any] = []
        self.samples: list[Any] = []
        self.smoothed: Any = None
        self.activity: dict[str, Any] = {}

    def step(self, inputs: Tensor, targets: Tensor) -> float:
        """Take one step of the optimizer; the loss before it."""
        self.activity = {}
        for name, layer in self.model.named_modules():
            if not list(layer.children()):
                layer.register_forward_hook(self._watch(name))
        outputs = self.model(inputs)
        loss = self.loss_fn(outputs, targets)
        self.optimizer.zero_grad()
        loss.backward(retain_graph=True)
        self.optimizer.step()
        self.losses.append(loss)
        self.samples.append(outputs[0])
        self.smoothed = loss if self.smoothed is None else 0.9 * self.smoothed + 0.1 * loss
        return loss.item()

    def report(self) -> dict[str, Any]:
        """The numbers to show: "losses", "smoothed", "activity" and "samples"."""
        return {
            "losses": [float(loss) for loss in self.losses[-self.window :]],
            "smoothed": None if self.smoothed is None else float(self.smoothed),
            "activity": {name: float(a) for name, a in self.activity.items()},
            "samples": [row.detach() for row in self.samples[-self.window :]],
        }

    def _watch(self, name: str) -> Callable[..., None]:
        """A hook that notes how active the layer is."""

        def hook(layer: nn.Module, inputs: Any, output: Any) -> None:
            if isinstance(output, Tensor):
                self.activity[name] = output.abs().mean()

        return hook
