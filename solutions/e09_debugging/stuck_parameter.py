from collections.abc import Callable

import torch
from torch import Tensor, nn


def stuck_parameters(
    model: nn.Module, optimizer: torch.optim.Optimizer, train_step: Callable[[], object]
) -> dict[str, str]:
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    seen: dict[Tensor, str] = {}

    def note(optimizer: torch.optim.Optimizer, args: object, kwargs: object) -> None:
        for group in optimizer.param_groups:
            seen.update({p: _wrong(p, group["lr"]) for p in group["params"]})

    handle = optimizer.register_step_post_hook(note)  # a closure has run by then, and nothing is cleared yet
    try:
        train_step()
    finally:
        handle.remove()
    held = {p for group in optimizer.param_groups for p in group["params"]}
    stuck = {}
    for name, p in model.named_parameters():
        if _same(p.detach(), before[name]):
            reason = seen.get(p, "no step") if p in held else "not in optimizer"
            stuck[name] = reason if p.requires_grad else "frozen"
    return stuck


def _wrong(p: Tensor, rate: float | Tensor) -> str:
    if p.grad is None:
        return "no gradient"
    if not (p.grad != 0).any():
        return "zero gradient"
    return "zero rate" if rate == 0 else "lost"


def _same(now: Tensor, before: Tensor) -> bool:
    return bool(((now == before) | (now.isnan() & before.isnan())).all())
