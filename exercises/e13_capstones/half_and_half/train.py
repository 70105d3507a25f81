"""Train the classifier in half precision: `python -m half_and_half.train`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .data import Batch, batches, make
from .model import Net, entropy
from .optim import Adam, Schedule, clip
from .scaler import Scaler


def loss_of(logits: Tensor, weights: Tensor, y: Tensor) -> Tensor:
    """The cross-entropy, less a hundredth of the weights' entropy; a mean over rows, in float32."""
    return F.cross_entropy(logits.float(), y) - 0.01 * entropy(weights).mean()


def update(
    model: nn.Module, optimizer: Any, scaler: Scaler, schedule: Any, parts: list[Batch], max_norm: float = 1.0
) -> tuple[float, bool]:
    """One update by the mean loss of some small batches; this loss, and whether the update was taken."""
    optimizer.zero()
    total = 0.0
    for x, seconds, y in parts:
        loss = loss_of(*model(x, seconds), y) / len(parts)
        (loss * scaler.scale).backward()
        optimizer.collect()
        total += loss.item()
    finite = scaler.unscale(optimizer.grads)
    clip(optimizer.grads, max_norm)
    optimizer.step()
    scaler.update(finite)
    if finite:
        schedule.step()
    return total, finite


@torch.no_grad()
def accuracy(model: nn.Module, data: Batch) -> float:
    """The share of recordings that the model, as it is trained, gets right."""
    x, seconds, y = data
    return (model(x, seconds)[0].argmax(dim=1) == y).float().mean().item()


def train(
    steps: int = 100, seed: int = 0, say: Callable[[str], object] = print
) -> tuple[Net, list[tuple[float, bool]]]:
    """Train; the model, and for each step the loss and whether it was taken."""
    torch.manual_seed(seed)
    model = Net().half()
    optimizer, scaler = Adam(model.parameters()), Scaler()
    schedule = Schedule(optimizer, peak=0.02, warmup=10, total=steps)
    data, held_out, history = make(4000, seed=1), make(1000, seed=2, gaps=500), []
    for step in range(steps):
        history.append(update(model, optimizer, scaler, schedule, batches(data, step)))
        if step % 20 == 0 or step == steps - 1:
            loss, taken = history[-1][0], sum(finite for _, finite in history)
            counts = f"{taken} taken, {step + 1 - taken} skipped"
            say(f"step {step:3}: loss {loss:.3f}, {counts}, scale {scaler.scale:g}")
    say(f"accuracy {accuracy(model, held_out):.3f}, last learning rate {optimizer.lr:.5f}")
    return model, history


if __name__ == "__main__":
    train()
