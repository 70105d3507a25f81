"""The contract of ReviewClassifier and predict."""

import math

import torch

from grader.checks import expect_close, expect_equal, expect_that

TOKENS = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0], [9.0, 9.0]]])
MASK = torch.tensor([[True, True, False]])


def classifier(answer):
    model = answer.ReviewClassifier(2, 2)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(
                {"score.weight": torch.tensor([[1.0, 0.0]]), "head.weight": torch.eye(2)}.get(name, 0 * p)
            )
    return model


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    model = classifier(answer)
    yours = model.token_weights(TOKENS, MASK).detach()
    scores = TOKENS[..., 0].masked_fill(~MASK, -math.inf)
    suspects = {
        "softmax runs over the batch: it is to run over time, dim=1": lambda: scores.softmax(0),
        "padding has a weight, too": lambda: TOKENS[..., 0].softmax(1),
        "padding is taken for a score of 0, which is no mask": lambda: (TOKENS[..., 0] * MASK).softmax(1),
        "the mask is the wrong way round: True is a token": lambda: torch.tensor([[0.0, 0.0, 1.0]]),
        "padding is taken out after the softmax": lambda: TOKENS[..., 0].softmax(1) * MASK,
    }
    right = torch.tensor([[0.75, 0.25, 0.0]])
    expect_close(yours, right, "token_weights(tokens, mask)", dims="batch time", suspects=suspects)
    wanted = torch.tensor([[0.75 * math.log(3.0), 0.0]]).softmax(1)
    suspects = {"log_softmax runs over the batch: it is to run over classes": lambda: torch.ones(1, 2)}
    yours = model(TOKENS, MASK).exp().detach()
    expect_close(yours, wanted, "model(tokens, mask).exp()", dims="batch classes", suspects=suspects)
    wanted = torch.tensor([[[0.75, 0.25], [0.5, 0.5], [1.0, 1.0]]])
    wanted[0, 2] = 0.5
    suspects = {
        "softmax runs over time: it is to run over classes, the last dim": lambda: TOKENS.softmax(1),
        "softmax runs over the batch: it is to run over classes, the last dim": lambda: TOKENS.softmax(0),
    }
    yours, call = model.token_classes(TOKENS).detach(), "token_classes(tokens)"
    expect_close(yours, wanted, call, dims="batch time classes", suspects=suspects)


def test_predict(answer):
    """predict is as sure as the probability says, and not always of class 0."""
    model = classifier(answer)
    labels, confidence = answer.predict(model, TOKENS, MASK)
    expect_equal(labels, torch.tensor([0]), "the labels of predict(model, tokens, mask)")
    expect_close(
        confidence, torch.tensor([1 / (1 + 3**-0.75)]), "the confidence of predict(model, tokens, mask)"
    )
    labels, _ = answer.predict(model, torch.tensor([[[0.0, 2.0]]]), torch.tensor([[True]]))
    expect_that(labels.tolist() == [1], "a review whose logits are [0, 2] is of class 1", yours=labels)
