import copy
import math
from collections.abc import Callable, Sequence

from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.optim import Optimizer


def range_test(
    model: nn.Module,
    optimizer: Optimizer,
    batches: Sequence[tuple[Shaped[Tensor, "batch ..."], Shaped[Tensor, "batch ..."]]],
    loss_fn: Callable[..., Float[Tensor, ""]],
    low: float = 1e-6,
    high: float = 1.0,
) -> list[tuple[float, float]]:
    weights = copy.deepcopy(model.state_dict())
    state = copy.deepcopy(optimizer.state_dict())
    pairs, best = [], math.inf
    try:
        for i, (x, y) in enumerate(batches):
            rate = low * (high / low) ** (i / (len(batches) - 1))
            model.zero_grad()
            loss = loss_fn(model(x), y)
            value = loss.item()
            pairs.append((rate, value))
            if not math.isfinite(value) or value > 4 * best:
                break
            best = min(best, value)
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss.backward()
            optimizer.step()
    finally:
        model.zero_grad()
        model.load_state_dict(weights)
        optimizer.load_state_dict(state)
    return pairs
