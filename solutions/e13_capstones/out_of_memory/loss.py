"""The loss of the next word, for a vocabulary that is larger than all else."""

import torch.nn.functional as F
from torch import Tensor, nn

from .model import recomputed


def piece_loss(hidden: Tensor, table: Tensor, targets: Tensor) -> Tensor:
    """The sum of the cross-entropies of a piece: (places, width), (words, width), (places,)."""
    logits = hidden @ table.T  # (places, words)
    return F.cross_entropy(logits, targets, reduction="sum")


def language_loss(hidden: Tensor, table: Tensor, targets: Tensor, piece: int = 64) -> Tensor:
    """The mean cross-entropy of all places of (size, time, width), computed for `piece` places at a time."""
    total = hidden.new_zeros(())
    for some, wanted in zip(hidden.flatten(0, 1).split(piece), targets.flatten().split(piece), strict=True):
        total = total + recomputed(piece_loss, some, table, wanted)
    return total / targets.numel()


def loss_of(model: nn.Module, rows: Tensor) -> Tensor:
    """The mean loss of texts, (size, time + 1): each word but the first is to be known."""
    return language_loss(model(rows[:, :-1]), model.token.weight, rows[:, 1:])
