import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def class_weights(labels: Int[Tensor, "*shape"], classes: int) -> Float[Tensor, " classes"]:
    labels = labels[labels != -100]
    counts = labels.bincount(minlength=classes).float()  # (classes,)
    return torch.where(counts > 0, labels.numel() / (classes * counts), 0.0)


def positive_weights(targets: Float[Tensor, "rows columns"]) -> Float[Tensor, " columns"]:
    positives = (targets > 0).sum(0)  # (columns,)
    negatives = len(targets) - positives
    return torch.where((positives > 0) & (negatives > 0), negatives / positives, 1.0)


def decide(
    logits: Float[Tensor, "rows columns"],
    threshold: float,
    pos_weight: Float[Tensor, " columns"] | None = None,
) -> Bool[Tensor, "rows columns"]:
    bar = torch.tensor(threshold, dtype=torch.float64).logit().item()  # -inf and inf at 0 and 1
    return logits > (bar if pos_weight is None else bar + pos_weight.log())  # (rows, columns)
