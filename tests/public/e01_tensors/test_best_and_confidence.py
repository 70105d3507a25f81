"""The contract of best_and_confidence."""

import math

import torch

from grader.checks.contract import Contract

LOGITS = torch.tensor([[0.0, math.log(3.0)], [math.log(8.0), math.log(2.0)]])
BEST, CONFIDENCE = torch.tensor([1, 0]), torch.tensor([0.75, 0.8])

contract = Contract(
    "best_and_confidence(logits)",
    example=[(LOGITS, (BEST, CONFIDENCE)), (LOGITS[None], (BEST[None], CONFIDENCE[None]))],
    suspects={
        "softmax runs over the batch: dim=-1 is the classes": lambda logits: (
            logits.argmax(-1),
            logits.softmax(0).gather(-1, logits.argmax(-1, keepdim=True)).squeeze(-1),
        ),
    },
    dims=("batch", "batch"),
)
