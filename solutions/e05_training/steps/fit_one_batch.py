import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


def fit_one_batch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "rows features"],
    y: Float[Tensor, "rows 1"],
) -> int:
    steps = 0
    loss = F.mse_loss(model(x), y)  # ()
    while loss.item() >= 0.01:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
        loss = F.mse_loss(model(x), y)
    return steps
