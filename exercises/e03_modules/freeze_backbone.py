"""Freeze a backbone: train a new head first, then everything.

A network that has seen millions of photos is to tell your five classes. At first only its new head trains. To stop the
backbone's parameters is half of it: in training mode its batch norms go on to count your photos into their running
statistics, and its dropout goes on to drop. Write a model that keeps all of the backbone still until `unfreeze()`:

    backbone = nn.BatchNorm1d(1)                      # running mean 0, variance 1
    model = FineTuned(backbone, nn.Linear(1, 1))      # say that the head's weight is 2, its bias 1
    model.train()
    model(torch.tensor([[4.0], [6.0]]))               # [[9.0], [13.0]], and the running mean is still 0
    len(model.trainable_parameters())                 # 2
    model.unfreeze()
    len(model.trainable_parameters())                 # 4

- Until then the backbone is in evaluation mode and requires no gradients, from the beginning and whatever `train()` says.
- The head follows `train()` and `eval()`; after `unfreeze()` the backbone does too, at once.
- `trainable_parameters()` is for the optimizer: those that require a gradient.

Fine print:
- `train()` and `eval()` return the model.
- What was frozen before it came here is still frozen after `unfreeze()`.
- A parameter that backbone and head share is listed once, and trains with the head.
"""

from jaxtyping import Float
from torch import Tensor, nn


class FineTuned(nn.Module):
    """`head` on top of `backbone`, which learns nothing before `unfreeze()`."""

    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch *shape"]) -> Float[Tensor, "batch outputs"]:
        raise NotImplementedError

    def train(self, mode: bool = True) -> "FineTuned":
        """Set the mode of the model; nn.Module's own `eval()` calls this with False."""
        raise NotImplementedError

    def trainable_parameters(self) -> list[nn.Parameter]:
        raise NotImplementedError

    def unfreeze(self) -> None:
        """Let the backbone train from now on."""
        raise NotImplementedError
