from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def sequence_loss(
    logits: Float[Tensor, "batch time vocab"], targets: Int64[Tensor, "batch time"], ignore_index: int = -100
) -> Float[Tensor, ""]:
    if logits.shape[:-1] != targets.shape:
        raise ValueError(f"logits {tuple(logits.shape)} and targets {tuple(targets.shape)} do not fit")
    rows = logits.flatten(0, 1)  # (batch * time, vocab)
    total = F.cross_entropy(rows, targets.flatten(), ignore_index=ignore_index, reduction="sum")
    counted = targets.ne(ignore_index).sum()
    return total / counted.clamp(min=1)  # without tokens: 0 / 1
