"""How train_a_poet begins: what train returns, and what is written with a model that knows the alphabet."""

import torch
from torch.nn import functional as F

from grader.checks import expect_equal


def alphabet(ids):
    """A model that is sure which letter comes next."""
    return 50.0 * F.one_hot((ids + 1) % 6, 6).float()


def test_what_is_written(answer, gen):
    """A start, and letters drawn one after the other."""
    yours = answer.writing.write(alphabet, "abcdef", "ab", 3, gen)
    suspects = {
        "start belongs to the text": lambda: "cde",
        "length counts the new letters alone": lambda: "abc",
    }
    expect_equal(yours, "abcde", 'write(alphabet, "abcdef", "ab", 3, generator)', suspects=suspects)


def test_what_is_returned(answer, data):
    """A model, and one letter for each of its ids."""
    text = (data / "verses.txt").read_text("utf-8")
    model, letters = answer.learning.train(text, 0, steps=1)
    expect_equal(sorted(letters), sorted(set(text)), "the letters from train(text, 0, steps=1)")
    shape = torch.Size([2, 5, len(letters)])
    expect_equal(
        model(torch.zeros(2, 5, dtype=torch.int64)).shape, shape, "the shape of model(ids) for (2, 5) ids"
    )
