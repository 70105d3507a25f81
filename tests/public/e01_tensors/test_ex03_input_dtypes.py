"""The contract of input_dtypes."""

import torch

from grader.checks import expect_equal, expect_raises, expect_view


def test_worked_example(answer):
    """The worked example of the statement comes out: int64, float32 and bool."""
    inputs = answer.model_inputs(
        torch.tensor([50256, 7], dtype=torch.uint16),
        torch.tensor([0.5, 2.0], dtype=torch.float64),
        torch.tensor([1, 0], dtype=torch.uint8),
    )
    wanted = (torch.tensor([50256, 7]), torch.tensor([0.5, 2.0]), torch.tensor([True, False]))
    expect_equal(inputs, wanted, "model_inputs(token_ids, features, mask)")


def test_nothing_to_do(answer):
    """Tensors that have the right dtypes already are not copied."""
    given = (torch.arange(6).view(2, 3), torch.rand(2, 4), torch.tensor([[True, False, True]]))
    for yours, x, name in zip(
        answer.model_inputs(*given), given, ("token_ids", "features", "mask"), strict=True
    ):
        expect_view(yours, x, f"model_inputs of {name} in {x.dtype}")


def test_float_ids_are_refused(answer):
    """Float ids raise TypeError."""
    call = "model_inputs(token_ids, features, mask) with float ids"
    expect_raises(TypeError, lambda: answer.model_inputs(torch.ones(2), torch.ones(2), torch.ones(2)), call)
