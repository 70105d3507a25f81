"""The five lines that train: `five_lines(model, optimizer, x, y)`.

Every network, small or huge, learns by these five lines. Write them, and return `loss.item()`, the loss
before the move.

    predict     what the model says about x
    compare     with y: the loss
    clear       the gradients that the last call left
    derive      `loss.backward()`: each weight gets its gradient
    move        each weight, a little, against its gradient

    model = nn.Linear(1, 1, bias=False)
    # say that its weight is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [2.0]])
    five_lines(model, optimizer, x, y)
    # 8.5, and the weight is now 2.0 - 0.1 · 13 = 0.7
    five_lines(model, optimizer, x, y)
    # 0.05: it has learned

New here: `optimizer.zero_grad()` clears the gradients of all weights, `optimizer.step()` moves all weights.
The loss is `F.mse_loss(prediction, y)`.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


def five_lines(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "rows features"],
    y: Float[Tensor, "rows 1"],
) -> float:
    raise NotImplementedError
