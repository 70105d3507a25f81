"""The contract of numpy_bridge."""

import numpy as np
import torch

from grader.checks import expect_equal, expect_that


def test_there(answer):
    """The worked examples for to_numpy come out: arrays of float32."""
    losses = torch.tensor([0.5, 2.0], requires_grad=True)
    for x, wanted in [(losses, [0.5, 2.0]), (torch.tensor([0.5], dtype=torch.bfloat16), [0.5])]:
        array = answer.to_numpy(x)
        call = f"to_numpy of {x.dtype}"
        expect_that(isinstance(array, np.ndarray), f"{call} is no NumPy array", yours=str(type(array)))
        expect_equal((str(array.dtype), array.tolist()), ("float32", wanted), call)


def test_and_back(answer):
    """The worked example for from_numpy comes out: a reversed array becomes a tensor."""
    array = np.arange(3, dtype=np.int64)[::-1]
    expect_equal(answer.from_numpy(array), torch.tensor([2, 1, 0]), "from_numpy(np.arange(3)[::-1])")


def test_memory_is_shared(answer):
    """Writing into the array of a tensor shows in the tensor."""
    x = torch.zeros(3)
    answer.to_numpy(x)[1] = 7.0
    expect_equal(x, torch.tensor([0.0, 7.0, 0.0]), "x after to_numpy(x)[1] = 7")
