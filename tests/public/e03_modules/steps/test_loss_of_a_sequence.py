"""The suite of loss_of_a_sequence."""

import torch
from torch.nn import functional as F

from grader.checks.contract import Contract, given

SIZES = [(2, 4, 3), (2, 3, 3), (1, 5, 7)]  # of 3 × 3, the wrong dimension gives no error


def flat(logits, ids):
    rows = [row for text in logits for row in text]
    return F.cross_entropy(torch.stack(rows), torch.cat(list(ids)))


def mixed_up(logits, ids):
    return F.cross_entropy(logits.reshape(len(logits), logits.shape[2], logits.shape[1]), ids)


contract = Contract(
    "loss_of_a_sequence(logits, ids)",
    reference=flat,
    example=(([[[2.0, 0.0], [2.0, 0.0]]], [[0, 1]]), torch.tensor(1.1269)),
    inputs=lambda gen: {
        f"{b} × {t} tokens, {v} in the vocabulary": given(
            2 * torch.randn(b, t, v, generator=gen), torch.randint(v, (b, t), generator=gen)
        )
        for b, t, v in SIZES
    },
    suspects={
        "cross_entropy takes time for the classes: flatten logits and ids first": F.cross_entropy,
        "reshape mixes time and vocabulary up: flatten batch and time instead": mixed_up,
        "only logits are flattened: ids have to be, too": lambda logits, ids: F.cross_entropy(
            logits.flatten(0, 1), ids
        ),
        "softmax is taken twice: cross_entropy wants logits": lambda logits, ids: flat(
            logits.softmax(2), ids
        ),
    },
)
