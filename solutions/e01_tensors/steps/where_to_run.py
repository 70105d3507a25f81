import torch
from jaxtyping import Shaped
from torch import Tensor


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def move(x: Shaped[Tensor, "*shape"], device: str | torch.device) -> Shaped[Tensor, "*shape"]:
    return x.to(device)
