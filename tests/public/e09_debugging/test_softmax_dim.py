"""The worked example of ReviewClassifier."""

import math

import torch

from grader.checks import expect_close, expect_that
from grader.checks.contract import Contract

TOKENS = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0], [9.0, 9.0]]])
MASK = torch.tensor([[True, True, False]])


def classifier(answer):
    model = answer.ReviewClassifier(2, 2)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        model.score.weight[0, 0] = 1.0
        model.head.weight.copy_(torch.eye(2))
    return model


def scores(tokens, mask, other=-math.inf):
    return tokens[..., 0].masked_fill(~mask, other)


token_weights = Contract(
    "token_weights(tokens, mask)",
    use=lambda answer, tokens, mask: classifier(answer).token_weights(tokens, mask),
    example=((TOKENS, MASK), [[0.75, 0.25, 0.0]]),
    dims="batch time",
    suspects={
        "softmax runs over the batch: the tokens of a review, dim 1, are to share": lambda x, mask: scores(
            x, mask
        ).softmax(0),
        "softmax runs over the batch, and is scaled to sum to 1 afterwards": lambda x, mask: (
            mask / mask.sum(1, keepdim=True)
        ),
        "padding has a weight, too": lambda x, mask: x[..., 0].softmax(1),
        "padding is taken for a score of 0, which is no mask": lambda x, mask: scores(x, mask, 0.0).softmax(
            1
        ),
        "the mask is the wrong way round: True is a token": lambda x, mask: scores(x, ~mask).softmax(1),
        "padding is taken out after the softmax, in which it had its share": lambda x, mask: (
            x[..., 0].softmax(1) * mask
        ),
    },
)
token_classes = Contract(
    "token_classes(tokens)",
    use=lambda answer, tokens: classifier(answer).token_classes(tokens),
    example=(TOKENS, [[[0.75, 0.25], [0.5, 0.5], [0.5, 0.5]]]),
    dims="batch time classes",
    suspects={
        "softmax runs over time: the classes, the last dim, are to share": lambda x: x.softmax(1),
        "softmax runs over the batch: the classes, the last dim, are to share": lambda x: x.softmax(0),
        "these are log-probabilities: probabilities are asked for": lambda x: x.log_softmax(2),
    },
)


def test_probabilities_of_the_example(answer):
    """The log-probabilities of the worked example come out: those of 0.6951 and 0.3049."""
    yours, call = classifier(answer)(TOKENS, MASK), "model(tokens, mask)"
    expect_that(
        not torch.equal(yours, torch.zeros(1, 2)),
        "every class of a review that comes alone has a probability of 1",
        likely="log_softmax runs over the batch: the classes, dim 1, are to share",
    )
    wanted = torch.tensor([[0.75 * math.log(3.0), 0.0]]).log_softmax(1)
    suspects = {"these are probabilities: their logarithms are asked for": lambda: wanted.exp()}
    expect_close(yours.detach(), wanted, call, dims="batch classes", suspects=suspects)
