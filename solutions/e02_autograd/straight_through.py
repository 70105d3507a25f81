import torch
from jaxtyping import Float
from torch import Tensor


def round_to(x: Float[Tensor, "*shape"], step: float = 1.0) -> Float[Tensor, "*shape"]:
    return _through(torch.round(x / step) * step, x)


def binarize(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return _through(torch.where(x >= 0, 1.0, -1.0).to(x.dtype), x.clamp(-1, 1))


def pick(logits: Float[Tensor, "*shape n"]) -> Float[Tensor, "*shape n"]:
    largest = logits.argmax(-1, keepdim=True)  # (*shape, 1)
    return _through(torch.zeros_like(logits).scatter(-1, largest, 1.0), logits.softmax(-1))


def _through(hard: Tensor, soft: Tensor) -> Tensor:
    """The value of hard with the gradient of soft."""
    return soft + (hard - soft).detach()
