"""What is decayed, and how fast is learned."""

import math

from torch import Tensor, nn


def groups(model: nn.Module, decay: float) -> list[dict[str, float | list[Tensor]]]:
    """The parameters in two groups: those with weight decay, and those without."""
    decayed = [p for name, p in model.named_parameters() if not name.endswith("bias")]
    others = [p for name, p in model.named_parameters() if name.endswith("bias")]
    return [{"params": decayed, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def rate(step: int, steps: int, peak: float, warmup: int) -> float:
    """The learning rate of a step, counted from 0: up in a line, then down along half a cosine."""
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step - warmup) / (steps - warmup)
    return peak * (1 + math.cos(math.pi * done)) / 2
