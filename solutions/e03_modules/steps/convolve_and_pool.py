import torch
from jaxtyping import Float
from torch import Tensor, nn


def convolve_and_pool(
    images: Float[Tensor, "batch 3 height width"], filters: int
) -> tuple[nn.Sequential, torch.Size]:
    model = nn.Sequential(nn.Conv2d(3, filters, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
    return model, model(images).shape
