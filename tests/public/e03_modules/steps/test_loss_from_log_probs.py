"""The suite of loss_from_log_probs."""

import torch
from torch.nn import functional as F

from grader.checks.contract import Contract, given

EXAMPLE = torch.tensor([[0.25, 0.75], [0.5, 0.5]]).log()


def mean_loss(log_probs, classes):
    return -log_probs.gather(1, classes[:, None]).mean()


def photos(gen):
    for rows, classes in [(4, 3), (5, 5), (8, 2)]:
        log_probs = (2 * torch.randn(rows, classes, generator=gen)).log_softmax(1)
        yield given(log_probs, torch.randint(classes, (rows,), generator=gen))


contract = Contract(
    "mean_loss(log_probs, classes)",
    reference=mean_loss,
    example=(given(EXAMPLE, torch.tensor([0, 1])), mean_loss(EXAMPLE, torch.tensor([0, 1]))),
    inputs=lambda gen: list(photos(gen)),
    suspects={
        "the logarithm is taken twice: these are log-probabilities already": lambda log_probs, classes: (
            mean_loss(log_probs.abs().log(), classes)
        ),
        "`nll_loss` wants log-probabilities as they are, and not probabilities": lambda log_probs, classes: (
            mean_loss(log_probs.exp(), classes)
        ),
        "softmax of log-probabilities gives probabilities: no softmax is wanted here": (
            lambda log_probs, classes: mean_loss(log_probs.softmax(1), classes)
        ),
        "the minus is missing: the less likely, the greater the loss": lambda log_probs, classes: (
            -mean_loss(log_probs, classes)
        ),
        "a sum over the photos, and not their mean": lambda log_probs, classes: F.nll_loss(
            log_probs, classes, reduction="sum"
        ),
        "a loss for each photo: their mean is wanted": lambda log_probs, classes: F.nll_loss(
            log_probs, classes, reduction="none"
        ),
    },
)
