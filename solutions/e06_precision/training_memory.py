import torch
from torch import nn


def training_memory(
    model: nn.Module, batch: int, saved: int, dtype: torch.dtype = torch.float32, master_weights: bool = False
) -> dict[str, int]:
    if not dtype.is_floating_point:
        raise ValueError(f"dtype must be floating, not {dtype}")
    tensors = [*model.parameters(), *model.buffers()]  # each tensor once
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    has_master = master_weights and dtype.itemsize < 4
    moved = torch.float32 if has_master else dtype
    table = {
        "parameters": sum(t.numel() * (dtype if t.is_floating_point() else t).itemsize for t in tensors),
        "gradients": trainable * dtype.itemsize,
        "master": trainable * 4 if has_master else 0,
        "optimizer": trainable * 2 * moved.itemsize,
        "activations": batch * saved * dtype.itemsize,
    }
    return {**table, "total": sum(table.values())}


def largest_batch(
    model: nn.Module,
    saved: int,
    budget: int,
    dtype: torch.dtype = torch.float32,
    master_weights: bool = False,
) -> int:
    none, one = (training_memory(model, n, saved, dtype, master_weights) for n in (0, 1))
    return max(0, budget - none["total"]) // one["activations"]
