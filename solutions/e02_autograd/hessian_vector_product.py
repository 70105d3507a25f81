from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def hvp(loss: Callable[..., Tensor], params: Sequence[Tensor], vectors: Sequence[Tensor]) -> Sequence[Tensor]:
    with torch.enable_grad():
        at = [p.detach().requires_grad_() for p in params]
        slopes = torch.autograd.grad(loss(*at), at, create_graph=True, materialize_grads=True)
        # The sum with 0 · p gives a graph to a slope that is constant.
        along = _dot([slope + 0 * p for slope, p in zip(slopes, at, strict=True)], vectors)
        return torch.autograd.grad(along, at)


def sharpness(
    loss: Callable[..., Tensor], params: Sequence[Tensor], start: Sequence[Tensor], steps: int = 10
) -> Float[Tensor, ""]:
    vectors = _normalised(start)
    for _ in range(steps):
        vectors = _normalised(hvp(loss, params, vectors))
    return _dot(vectors, hvp(loss, params, vectors))


def _dot(left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
    return torch.stack([(a * b.detach()).sum() for a, b in zip(left, right, strict=True)]).sum()


def _normalised(vectors: Sequence[Tensor]) -> list[Tensor]:
    norm = _dot(vectors, vectors).sqrt()
    return [torch.where(norm > 0, v.detach() / norm, 0.0) for v in vectors]
