"""The contract of numpy_bridge."""

import numpy as np
import torch

from grader.checks import expect_close, expect_equal, expect_that


def test_there(answer):
    """The worked examples for to_numpy come out: arrays of float32."""
    losses = torch.tensor([0.5, 2.0], requires_grad=True)
    for x, wanted in [(losses, [0.5, 2.0]), (torch.tensor([0.5], dtype=torch.bfloat16), [0.5])]:
        array = answer.to_numpy(x)
        call = f"to_numpy of {x.dtype}"
        expect_that(isinstance(array, np.ndarray), f"{call} is no NumPy array", yours=str(type(array)))
        ways = {
            "a list of Python's floats is on the way, of which NumPy makes float64": lambda: "float64",
            "bfloat16 becomes float16, which has a smaller range: float32 holds all of it": lambda: "float16",
        }
        expect_equal(str(array.dtype), "float32", f"the dtype of {call}", suspects=ways)
        expect_equal(array.tolist(), wanted, call)


def test_and_back(answer):
    """The worked example for from_numpy comes out: a reversed array becomes a tensor."""
    array = np.arange(3, dtype=np.int64)[::-1]
    expect_equal(answer.from_numpy(array), torch.tensor([2, 1, 0]), "from_numpy(np.arange(3)[::-1])")


def test_memory_is_shared(answer):
    """Writing into the array of a tensor shows in the tensor."""
    x, before = torch.tensor([1.5, 2.5, 3.5]), torch.tensor([1.5, 2.5, 3.5])
    answer.to_numpy(x)[1] = 7.0
    suspects = {"the array is a copy: x.numpy() shares the memory of x": lambda: before}
    expect_close(x, torch.tensor([1.5, 7.0, 3.5]), "x after to_numpy(x)[1] = 7", suspects=suspects)
