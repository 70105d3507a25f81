"""Hidden waits: `.item()`, `if` on a tensor and their disguises, in every step of an epoch.

A GPU runs behind the host: Python queues work and goes on. But whoever wants to see a number waits until all of it has
run, and meanwhile nothing is queued. `train_epoch` trains a tagger, and reports on the epoch:

    model = torch.nn.Linear(1, 2, bias=False)                # both weights 0, and SGD with lr=1.0
    batches = [(torch.tensor([[[3.0], [4.0], [9.0]]]), torch.tensor([[0, 1, -100]]))]    # -100: not labelled
    train_epoch(model, optimizer, batches, max_norm=0.1)
    # {"loss": 0.6931, "accuracy": 0.5, "largest_norm": 0.3536}
    # the gradient [[0.25], [-0.25]] has norm 0.3536, is scaled to 0.1, and leads to [[-0.0707], [0.0707]]

The code below is right, but waits several times in each step. `.item()` is only the most visible cause.

- Until the last step is done, no number goes to the host and it never waits.
- Weights and report stay as they are: loss and accuracy are means over all labelled positions of the epoch.
- The report holds Python floats. batches may be a generator.

Fine print:
- A batch without labels has loss 0 and takes its step; the mean that `cross_entropy` makes of nothing is NaN.
- After the last step, the host waits at most once for each number of the report.
- Of earlier batches only single numbers are kept: no logits, no labels.
- The norm may be scaled to a millionth less than max_norm, as `clip_grad_norm_` does.
- The batches stay as they are.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Float[Tensor, "batch time dim"], Int[Tensor, "batch time"]]


def train_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Batch], max_norm: float = 1.0
) -> dict[str, float]:
    """Take one step for each batch; return "loss", "accuracy" and "largest_norm", the largest before scaling."""
    total, hits, count, largest = 0.0, 0, 0, 0.0
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
        optimizer.step()
        total += loss.item() * labelled.sum().item()
        count += labelled.sum().item()
        predicted = logits.argmax(-1)[labelled].tolist()
        hits += sum(mine == right for mine, right in zip(predicted, labels[labelled].tolist(), strict=True))
        largest = max(largest, norm)
    return {"loss": total / count, "accuracy": hits / count, "largest_norm": float(largest)}
