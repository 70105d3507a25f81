from collections.abc import Collection
from typing import Any

from torch import nn


def parameter_groups(
    model: nn.Module, weight_decay: float, skip: Collection[str] = ()
) -> list[dict[str, Any]]:
    decayed: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, p in model.named_parameters():  # each once, also one that is shared
        if not p.requires_grad:
            continue
        skipped = any(f"{name}.".startswith(f"{part}.") for part in skip)
        group = others if p.dim() < 2 or skipped else decayed
        group.append(p)
    return [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
