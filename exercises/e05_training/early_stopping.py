"""Early stopping: end a run when it has not got better for a while.

The validation loss falls, then creeps, then rises. It is noisy too, so one bad epoch is no reason to stop. Write an
object that is told each epoch's value and says when to stop:

    stopping = EarlyStopping(patience=2, min_delta=0.1)
    [stopping.step(loss) for loss in [1.0, 0.8, 0.75, 0.72, 0.5, 0.6, 0.7]]
    # gain?     yes    yes    no     no    yes    no     no
              [False, False, False, True, False, False, True]
    stopping.best       # 0.5, and best_epoch is 4, counted from 0

- A value is a gain if it is below `best` by more than min_delta. Then it is the new `best`.
- `best` changes at gains only: else small steps would never add up to one.
- step(value) is True after `patience` values in a row without a gain. A gain begins the count anew.
- With mode="max", for an accuracy, a gain is above `best` by more than min_delta.

Fine print:
- The first value is a gain, but NaN never is. It counts as a value without one, also at the start.
- Before the first gain `best_epoch` is None, and `best` is infinite: inf, with mode="max" -inf.
- `improved` says whether the last value was a gain: then save the model.
- A value may be a tensor of one element. `best` is a Python float, or the graph of its loss would be kept alive.
- `state_dict()` holds plain numbers that json can store, and a new object that loads it with
  `load_state_dict(state)` goes on from there, with its own arguments.
- ValueError for a patience below 1, a min_delta below 0, or another mode than "min" and "max".
"""

from typing import Any

from torch import Tensor


class EarlyStopping:
    best: float
    best_epoch: int | None
    improved: bool

    def __init__(self, patience: int, min_delta: float = 0.0, mode: str = "min") -> None:
        raise NotImplementedError

    def step(self, value: float | Tensor) -> bool:
        """Take the value of the next epoch; whether to stop."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise NotImplementedError
