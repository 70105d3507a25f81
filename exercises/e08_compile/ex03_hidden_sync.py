"""Hidden waits: `.item()`, `.tolist()`, `if` on a tensor and their disguises, in every step of an epoch.

An accelerator runs behind the host: Python queues work and goes on. But whoever wants to see a number has to
wait until all that is queued has run, and meanwhile nothing new is queued. `train_epoch` trains a tagger, and
reports on the epoch:

    model = torch.nn.Linear(1, 2, bias=False)                # both weights 0, and SGD with lr=1.0
    batches = [(torch.tensor([[[3.0], [4.0], [9.0]]]), torch.tensor([[0, 1, -100]]))]    # -100: not labelled
    train_epoch(model, optimizer, batches, max_norm=0.1)
    # {"loss": 0.6931, "accuracy": 0.5, "largest_norm": 0.3536, "clipped": 1}
    # the gradient [[0.25], [-0.25]] has norm 0.3536, more than 0.1: scaled, and the step leads to
    model.weight                                             # [[-0.0707], [0.0707]]

The code below has all numbers right. But the profiler shows gaps in every step, and `cudaStreamSynchronize`
ahead of each. `.item()` is only the most visible cause.

Rules:
- As long as there are batches, no number goes to the host and the host never waits for the device. When the
  last step is done it may wait four times, once for each number of the report.
- The loss of a batch is the mean cross-entropy of its labelled positions. A batch without any has loss 0 and
  gradients of 0, and the optimizer takes its step for it all the same.
- One step of the optimizer for each batch, in order, with the gradients of this batch's loss alone: a
  parameter that it does not depend on, unused or frozen, has None, and stays, whatever the weight decay.
  Where their norm, over all parameters of the model that have one, is more than max_norm, they are scaled to
  that norm (or, as `clip_grad_norm_` does, to a millionth less).
- The report has plain numbers: "loss" and "accuracy" are means over all labelled positions of the epoch, of
  the logits before each step; "largest_norm" is the largest norm before scaling. These three are floats,
  "clipped" is an int: how many batches had their gradients scaled.
- When a batch is asked for, at most the batch before it is still held, with its graph and its logits. Of
  those before, nothing but single numbers is kept.
- batches may be any iterable, also a generator, of one batch or more, with one labelled position or more.
  Sizes may differ from batch to batch, and tensors may be strided. The model's modes are the caller's;
  batches are not changed.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Float[Tensor, "batch time dim"], Int[Tensor, "batch time"]]


def train_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Batch], max_norm: float = 1.0
) -> dict[str, float | int]:
    """Take one step for each batch, and report on the epoch.

    Args:
        model: maps features to logits (batch, time, classes). Some of its parameters may get no gradient.
        optimizer: holds the parameters of the model.
        batches: features and int64 labels, -100 where there is none, on the device of the model.
        max_norm: the largest norm of all gradients together with which a step is taken, above 0.

    Returns:
        "loss", "accuracy", "largest_norm" and "clipped".
    """
    total, hits, count, largest, clipped = 0.0, 0, 0, 0.0, 0
    for features, labels in batches:
        logits = model(features)
        labelled = labels != -100
        loss = F.cross_entropy(logits[labelled], labels[labelled], reduction="sum") / max(labelled.sum(), 1)
        optimizer.zero_grad()
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.stack([g.norm() for g in gradients]).norm()
        if norm > max_norm:
            for g in gradients:
                g.mul_(max_norm / norm)
            clipped += 1
        optimizer.step()
        total += loss.item() * labelled.sum().item()
        count += labelled.sum().item()
        predicted = logits.argmax(-1)[labelled].tolist()
        hits += sum(mine == right for mine, right in zip(predicted, labels[labelled].tolist(), strict=True))
        largest = max(largest, norm)
    return {
        "loss": total / count,
        "accuracy": hits / count,
        "largest_norm": float(largest),
        "clipped": clipped,
    }
