import math
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Gradient(NamedTuple):
    name: str
    norm: float | None
    state: str


def gradient_report(model: nn.Module, limit: float = 1000.0) -> list[Gradient]:
    by_device: dict[torch.device, dict[str, Tensor]] = {}
    for name, p in model.named_parameters():
        if p.grad is not None:
            # squares of float32 fit into float64, large and small
            norm = torch.linalg.vector_norm(p.grad.detach(), dtype=torch.float64)  # ()
            by_device.setdefault(p.grad.device, {})[name] = norm
    norms: dict[str, float] = {}
    for found in by_device.values():
        norms.update(zip(found, torch.stack(list(found.values())).tolist(), strict=True))  # one wait
    return [
        Gradient(name, norms.get(name), _state(p, norms.get(name), limit))
        for name, p in model.named_parameters()
    ]


def _state(p: nn.Parameter, norm: float | None, limit: float) -> str:
    if norm is None:
        return "none" if p.requires_grad else "frozen"
    if not math.isfinite(norm):
        return "nonfinite"
    if norm > limit:
        return "exploding"
    return "zero" if norm == 0 else "ok"
