from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Float[Tensor, "batch time dim"], Int[Tensor, "batch time"]]


def train_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Batch], max_norm: float = 1.0
) -> dict[str, float]:
    total, hits, count, norms = 0.0, 0, 0, []
    for features, labels in batches:
        logits = model(features)  # (batch, time, classes)
        labelled = labels != -100  # (batch, time): no index, whose result has a size that only values tell
        number = labelled.sum()  # (): this and all below stay on the device
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
        loss = losses / number.clamp(min=1)
        optimizer.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm))  # (): it scales by 1 at most
        optimizer.step()
        total += losses.detach()
        hits += ((logits.argmax(-1) == labels) & labelled).sum()
        count += number
    return {
        "loss": float(total / count),
        "accuracy": float(hits / count),
        "largest_norm": float(torch.stack(norms).max()),
    }
