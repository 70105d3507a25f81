"""The worked example of imbalanced_classes."""

import torch

from grader.checks.contract import Contract, given

weights = Contract(
    "class_weights(labels, classes)",
    example=(given(torch.tensor([0, 0, 0, 1, 2, 2]), classes=3), [6 / 9, 2.0, 1.0]),
    dims="class",
)
positives = Contract(
    "positive_weights(targets)",
    example=(given(torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])), [3.0, 1.0]),
    dims="column",
)
decide = Contract(
    "decide(logits, threshold, pos_weight)",
    example=(given(torch.tensor([[1.0, 1.0]]), 0.5, torch.tensor([3.0, 1.0])), torch.tensor([[False, True]])),
    dims="row column",
)
