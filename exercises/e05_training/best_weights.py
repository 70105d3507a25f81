"""Keep the best weights: a state dict is a window, not a picture.

`fit` trains for some epochs and measures after each. It is to leave the model as it was after the best one.

    # four epochs; the weight is 10 after the first, then 20, 30, 40, and the losses are 3.0, 1.0, 2.0, 2.5
    fit(model, train_epoch, evaluate, epochs=4)     # (1.0, 1): the lowest loss, and its epoch, counted from 0
    model.weight                                    # 20; with the code below 40, that of the last epoch

The code reports the best loss, and the model's is another one: `state_dict()` shows the weights themselves, and they go on
changing. Mend it.

- Afterwards the model has the parameters and the buffers (the statistics of a batch norm) of the epoch with the lowest
  loss, the first if two are equal.
- fit returns that loss, and the number of its epoch.

Fine print:
- A loss of NaN is never the best. Where all are, or there are no epochs, fit returns (inf, None), and the model stays as
  it is in the end.
- Parameters and buffers are the same objects as before, in the same memory: an optimizer holds them.
- An error in train_epoch or evaluate, or a KeyboardInterrupt, comes through. The model has the best weights so far then.
- At most one copy of the weights is held, not one for each epoch.
- evaluate may return a tensor. The loss comes back as a float.
"""

import math
from collections.abc import Callable

from torch import Tensor, nn


def fit(
    model: nn.Module,
    train_epoch: Callable[[], object],
    evaluate: Callable[[], float | Tensor],
    epochs: int,
) -> tuple[float, int | None]:
    """Train for some epochs, keep the best; return the lowest loss and its epoch."""
    best_loss, best_epoch, best = math.inf, None, model.state_dict()
    for epoch in range(epochs):
        train_epoch()
        loss = evaluate()
        if loss < best_loss:
            best_loss, best_epoch, best = loss, epoch, model.state_dict()
    model.load_state_dict(best)
    return best_loss, best_epoch
