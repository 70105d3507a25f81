import math
from collections.abc import Callable

from torch import Tensor, nn


def fit(
    model: nn.Module,
    train_epoch: Callable[[], object],
    evaluate: Callable[[], float | Tensor],
    epochs: int,
) -> tuple[float, int | None]:
    best_loss, best_epoch = math.inf, None
    best: dict[str, Tensor] | None = None
    try:
        for epoch in range(epochs):
            train_epoch()
            loss = float(evaluate())
            if loss < best_loss:  # False for NaN
                best_loss, best_epoch, best = loss, epoch, None  # the old copy goes first
                best = {name: t.detach().clone() for name, t in model.state_dict().items()}
    finally:
        if best is not None:
            model.load_state_dict(best)
    return best_loss, best_epoch
