"""The contract of build_index and train."""

import random
import string

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that

WORDS = list(string.ascii_lowercase)


def zeros(words, classes):
    linear = nn.Linear(words, classes, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def test_index_is_sorted(answer):
    """The distinct strings are numbered in sorted order."""
    expect_equal(answer.build_index(["spam", "ham", "spam"]), {"ham": 0, "spam": 1}, "build_index([…])")
    wanted = {word: number for number, word in enumerate(WORDS)}
    expect_equal(answer.build_index(reversed(WORDS)), wanted, "build_index of the letters from z to a")


def test_worked_example(answer):
    """The losses and the weight of the worked example come out."""
    documents, labels = [["a"], ["b"]], ["x", "y"]
    model, losses = answer.train(documents, labels, zeros, list, seed=0, lr=1.0)
    expect_equal([type(loss).__name__ for loss in losses], ["float"] * 2, "the types of the losses")
    expect_close(torch.tensor(losses), torch.tensor([0.693147, 0.474077]), "the losses", ulps=20)
    model, _ = answer.train(documents, labels, zeros, list, seed=0, epochs=1, lr=1.0)
    wanted = torch.tensor([[0.25, -0.25], [-0.25, 0.25]])
    expect_close(model.weight.detach(), wanted, "the weight after an epoch")


def test_a_run_repeats(answer):
    """Two runs with the same seed give the same losses and weights."""
    documents = [random.Random(i).sample(WORDS, 5) for i in range(9)]
    labels = ["spam" if i % 3 else "ham" for i in range(9)]
    augment = lambda words: [word for word in words if random.random() < 0.8]  # noqa: E731
    runs = [answer.train(documents, labels, nn.Linear, augment, seed=3) for _ in range(2)]
    expect_equal(runs[1][1], runs[0][1], "the losses of the second run")
    same = torch.equal(runs[0][0].weight, runs[1][0].weight)
    expect_that(same, "the second run has other weights than the first")
