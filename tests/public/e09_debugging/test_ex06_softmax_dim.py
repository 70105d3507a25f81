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
    expect_close(yours, torch.tensor([[0.75, 0.25, 0.0]]), "token_weights(tokens, mask)", dims="batch time")
    wanted = torch.tensor([[0.75 * math.log(3.0), 0.0]]).softmax(1)
    expect_close(
        model(TOKENS, MASK).exp().detach(), wanted, "model(tokens, mask).exp()", dims="batch classes"
    )
    wanted = torch.tensor([[[0.75, 0.25], [0.5, 0.5], [1.0, 1.0]]])
    wanted[0, 2] = 0.5
    expect_close(
        model.token_classes(TOKENS).detach(), wanted, "token_classes(tokens)", dims="batch time classes"
    )


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
