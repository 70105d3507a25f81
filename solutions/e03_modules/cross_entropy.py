import torch
from jaxtyping import Float, Int64
from torch import Tensor


def cross_entropy(
    logits: Float[Tensor, "examples classes"],
    targets: Int64[Tensor, "examples"],
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing is to be from 0 to 1, not {label_smoothing}")
    if targets.shape != logits.shape[:1]:
        raise ValueError(f"targets are {tuple(targets.shape)}, logits {tuple(logits.shape)}")
    exact = logits if logits.dtype == torch.float64 else logits.float()
    surprise = -exact.log_softmax(dim=1)  # (examples, classes)
    counts = targets != ignore_index
    index = targets.where(counts, 0)[:, None]
    loss = surprise.gather(1, index).squeeze(1)  # (examples,)
    if label_smoothing:  # 0 * inf would be NaN
        loss = (1 - label_smoothing) * loss + label_smoothing * surprise.mean(dim=1)
    total = loss.where(counts, 0.0).sum()
    return (total / counts.sum().clamp(min=1)).to(logits.dtype)
