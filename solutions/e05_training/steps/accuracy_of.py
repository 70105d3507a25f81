import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def accuracy_of(model: nn.Module, x: Float[Tensor, "rows features"], labels: Int[Tensor, " rows"]) -> float:
    model.eval()
    with torch.no_grad():
        classes = model(x).argmax(dim=1)  # (rows,)
    return (classes == labels).float().mean().item()
