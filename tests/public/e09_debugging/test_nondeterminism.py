"""The worked example of build_index and train, and a run that is repeated."""

import random
import string

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that


def zeros(words, classes):
    linear = nn.Linear(words, classes, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def test_index_is_sorted(answer):
    """The distinct strings are numbered in sorted order."""
    letters = list(string.ascii_lowercase)
    wanted = {letter: number for number, letter in enumerate(letters)}
    call = "build_index of the letters from z to a"
    suspects = {
        "this is the order in which they come: sort them": lambda: dict(
            zip(reversed(letters), range(26), strict=True)
        ),
        "this is the order of a set, which differs from process to process: sort them": lambda: {
            letter: number for number, letter in enumerate(set(reversed(letters)))
        },
    }
    expect_equal(answer.build_index(reversed(letters)), wanted, call, suspects=suspects)
    expect_equal(answer.build_index(["spam", "ham", "spam"]), {"ham": 0, "spam": 1}, "build_index([…])")


def test_worked_example(answer):
    """The losses and the weight of the worked example come out."""
    documents, labels = [["a"], ["b"]], ["x", "y"]
    _, losses = answer.train(documents, labels, zeros, list, seed=0, lr=1.0)
    expect_close(torch.tensor(losses), torch.tensor([0.693147, 0.474077]), "the losses of train(…)", ulps=20)
    model, _ = answer.train(documents, labels, zeros, list, seed=0, epochs=1, lr=1.0)
    wanted = torch.tensor([[0.25, -0.25], [-0.25, 0.25]])
    expect_close(model.weight.detach(), wanted, "the weight after train(…, epochs=1)")


def test_a_run_repeats(answer):
    """Two runs with the same seed give the same losses and weights."""
    documents = [random.Random(i).sample(string.ascii_lowercase, 5) for i in range(9)]
    labels = ["spam" if i % 3 else "ham" for i in range(9)]
    augment = lambda words: [word for word in words if random.random() < 0.8]  # noqa: E731
    runs = [answer.train(documents, labels, nn.Linear, augment, seed=3) for _ in range(2)]
    (one, first), (other, second) = runs
    same = first == second and torch.equal(one.weight, other.weight)
    facts = {"first": str(first[:3]), "second": str(second[:3])}
    expect_that(same, "a second run with the same seed has other losses than the first", **facts)
