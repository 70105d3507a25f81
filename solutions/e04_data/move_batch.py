import copy
from typing import Any

import torch


def move_batch(batch: Any, device: torch.device | str, non_blocking: bool = False) -> Any:
    if hasattr(batch, "to"):  # a tensor, or what moves itself
        return batch.to(device, non_blocking=non_blocking)
    if isinstance(batch, dict):
        moved = copy.copy(batch)  # keeps the class, the order and a factory
        for key, value in batch.items():
            moved[key] = move_batch(value, device, non_blocking)
        return moved
    if isinstance(batch, (list, tuple)):
        parts = [move_batch(part, device, non_blocking) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch
