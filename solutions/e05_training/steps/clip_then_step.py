import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


def clip_then_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "rows features"],
    y: Float[Tensor, "rows 1"],
) -> None:
    loss = F.mse_loss(model(x), y)  # ()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
