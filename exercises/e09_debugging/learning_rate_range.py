"""Which learning rate? Ask the model: a range test.

Take steps with a learning rate that grows from tiny to huge: where the loss falls fastest lies a good one. (Smith 2015,
"Cyclical Learning Rates".) Step i of n is taken with low * (high / low) ** (i / (n - 1)), and `range_test` gives
pairs of rate and loss before the step:

    range_test(model, optimizer, batches, loss_fn, low=0.001, high=10.0)      # five batches, as pairs (x, y)
    # [(0.001, 2.31), (0.01, 2.30), (0.1, 2.24), (1.0, 1.63), (10.0, 1.22)]

- There are two batches at least; loss_fn(model(x), y) is the loss.
- It ends at a loss that is NaN, infinite or above 4 times the smallest so far: that pair is the last, without a step.
- All groups of the optimizer get the rate.
- Afterwards weights are as before, and the optimizer's rates, momentum and other state. No gradient is left.

Fine print:
- So are buffers. The weights are the same tensors: the optimizer holds on to them.
- All this is so, too, where model or loss_fn raises an error, which reaches the caller.
- Rates and losses are plain floats. The model runs in its mode.
"""

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
    """Pairs of learning rate and loss; model and optimizer are afterwards as before."""
    raise NotImplementedError
