"""One bad batch, and the run is lost: skip the steps whose loss leaps.

One step along the gradient of a corrupt document undoes a day. `SpikeGuard` looks at each loss before the step:
`admits(loss)` tells whether to take it, and `guarded_step` asks it.

    guard = SpikeGuard(window=3, factor=2.0)
    [guard.admits(loss) for loss in [2.0, 9.0, 1.0, 5.0, nan, 1.5, 3.5]]
    # [True, True, True, False, False, True, False]: 5.0 > 2 * 2.0, the median of 2, 9, 1; then 3.5 > 2 * 1.5

- A loss is a spike if it is NaN or infinite, or above factor * median of the last `window` losses that were admitted.
- Before `window` of them have been admitted, only NaN and inf are spikes. Spikes are not remembered.
- `guarded_step` takes the step if the guard admits the loss, and tells whether it did. A skipped one leaves weights and
  optimizer as they are.
- Afterwards no parameter has a gradient. Gradients from before don't count.

Fine print:
- With an even window the median is the mean of the two in the middle.
- admits takes floats and tensors of one number; it keeps plain floats, at most `window` of them: no graph.
- `guard.state_dict()` and `guard.load_state_dict(state)` carry the guard over a restart. A state goes through JSON, and
  does not change any more when the guard goes on.
- ValueError if window < 1 or factor <= 1.
"""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer


class SpikeGuard:
    """Tells which losses are in line with the last ones."""

    def __init__(self, window: int = 50, factor: float = 2.0) -> None:
        raise NotImplementedError

    def admits(self, loss: float | Float[Tensor, ""]) -> bool:
        """Whether to take the step of this loss, which is remembered if so."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """What a guard of the same window and factor needs to go on."""
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a state."""
        raise NotImplementedError


def guarded_step(model: nn.Module, optimizer: Optimizer, guard: SpikeGuard, loss: Float[Tensor, ""]) -> bool:
    """One step of training, unless its loss is a spike; whether it was taken."""
    raise NotImplementedError
