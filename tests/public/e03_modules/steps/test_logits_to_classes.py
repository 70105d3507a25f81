"""The suite of logits_to_classes."""

import torch

from grader.checks.contract import Contract

EXAMPLE = [[2.0, 0.0, 0.0], [0.0, -1.0, 3.0]]
SIZES = [(2, 3), (4, 4), (1, 5), (6, 2)]  # of 4 × 4, a wrong dim gives no error


def by_columns(logits):
    return logits.softmax(0), logits.argmax(0)


contract = Contract(
    "logits_to_classes(logits)",
    reference=lambda logits: (logits.exp() / logits.exp().sum(1, keepdim=True), logits.max(1).indices),
    example=(EXAMPLE, (torch.tensor(EXAMPLE).softmax(1), torch.tensor([0, 2]))),
    inputs=lambda gen: [3 * torch.randn(size, generator=gen) for size in SIZES],
    dims=("row class", "row"),
    suspects={
        "the softmax goes down the columns: it is wanted along each row": by_columns,
        "a sigmoid looks at each logit alone: a row of probabilities has the sum 1": lambda logits: (
            logits.sigmoid(),
            logits.argmax(1),
        ),
        "this is one class for all rows: argmax goes along a dim": lambda logits: (
            logits.softmax(1),
            logits.argmax(),
        ),
        "these are logarithms of probabilities": lambda logits: (logits.log_softmax(1), logits.argmax(1)),
        "these are the largest logits, not their places": lambda logits: (
            logits.softmax(1),
            logits.max(1).values,
        ),
    },
)
