"""The contract of ChurnModel, to_batch, training_loss and predict."""

import numpy as np
import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that

ARRAYS = {
    "store": np.array([1], np.int16),
    "features": np.array([[12.0, 50.0]]),
    "label": np.array([1], np.int32),
}


def worked_example(answer):
    """A model whose logits are the normalised features."""
    arrays = np.array([10.0, 100.0]), np.array([2.0, 50.0]), np.array([1.0, 3.0])
    model = answer.ChurnModel(4, *arrays)
    with torch.no_grad():
        model.score.bias.zero_()
        model.score.weight.copy_(torch.eye(2, 5).roll(3, 1))
    return model


def test_loss_of_the_example(answer):
    """The loss of the worked example is 2.1269, and a gradient flows back."""
    model = worked_example(answer)
    loss = answer.training_loss(model, answer.to_batch(ARRAYS, model))
    loss.backward()
    expect_close(loss.detach(), torch.tensor(2.126928), "training_loss(model, batch)", ulps=50)
    expect_close(
        model.score.bias.grad, torch.tensor([0.880797, -0.880797]), "the gradient of the bias", ulps=50
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_probabilities_of_the_example(answer, dtype):
    """The probabilities of the worked example come out in NumPy's float32, from models in any dtype."""
    yours = answer.predict(worked_example(answer).to(dtype), ARRAYS)
    expect_equal(type(yours).__name__, "ndarray", f"the type of predict(model, arrays) of a model in {dtype}")
    expect_equal(str(yours.dtype), "float32", f"the dtype of predict(model, arrays) of a model in {dtype}")
    error = float(np.abs(yours - np.array([[0.880797, 0.119203]])).max()) if yours.shape == (1, 2) else np.inf
    allowed = 0.01 if dtype == torch.bfloat16 else 1e-5
    expect_that(error <= allowed, f"wrong probabilities of a model in {dtype}", yours=str(yours))


def test_batch_of_the_example(answer):
    """to_batch gives features in the model's dtype, and stores and labels in int64."""
    model = worked_example(answer)
    for dtype in (torch.float32, torch.float64):
        batch = answer.to_batch(ARRAYS, model.to(dtype))
        expect_equal(
            batch,
            {
                "store": torch.tensor([1]),
                "features": torch.tensor([[12.0, 50.0]], dtype=dtype),
                "label": torch.tensor([1]),
            },
            f"to_batch(arrays, model) for a model in {dtype}",
        )
