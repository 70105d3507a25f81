"""The suite of three_losses."""

import torch
from torch.nn import functional as F

from grader.checks.contract import Contract, given


def losses(scores, classes, guesses, prices, spam, is_spam):
    of_classes = F.cross_entropy(scores, classes)
    return (
        of_classes,
        (guesses - prices).square().mean(),
        F.binary_cross_entropy_with_logits(spam, is_spam),
    )


def batch(gen, rows, classes):
    return given(
        2 * torch.randn(rows, classes, generator=gen),
        torch.randint(classes, (rows,), generator=gen),
        torch.randn(rows, generator=gen),
        torch.randn(rows, generator=gen),
        2 * torch.randn(rows, generator=gen),
        torch.randint(2, (rows,), generator=gen).float(),
    )


def softmax_first(scores, *others):
    return losses(scores.softmax(1), *others)


def sigmoid_first(*args):
    *others, spam, is_spam = args
    return losses(*others, spam.sigmoid(), is_spam)


def no_logits(*args):
    *_, spam, is_spam = args
    return (*losses(*args)[:2], F.binary_cross_entropy(spam, is_spam))


def sums(scores, classes, guesses, prices, spam, is_spam):
    return tuple(len(scores) * loss for loss in losses(scores, classes, guesses, prices, spam, is_spam))


contract = Contract(
    "three_losses(scores, classes, guesses, prices, spam, is_spam)",
    reference=losses,
    example=(
        ([[2.0, 0.0]], [0], [3.0], [5.0], [0.0], [1.0]),
        losses(*map(torch.tensor, ([[2.0, 0.0]], [0], [3.0], [5.0], [0.0], [1.0]))),
    ),
    inputs=lambda gen: {f"{n} rows, {k} classes": batch(gen, n, k) for n, k in [(4, 3), (5, 5), (8, 2)]},
    suspects={
        "softmax is taken twice: cross_entropy wants the scores as they are": softmax_first,
        "sigmoid is taken twice: this loss wants the scores as they are": sigmoid_first,
        "binary_cross_entropy wants probabilities: take binary_cross_entropy_with_logits": no_logits,
        "a sum over the rows, not their mean": sums,
    },
)
