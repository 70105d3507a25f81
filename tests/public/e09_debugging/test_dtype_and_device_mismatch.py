"""The worked example of ChurnModel, to_batch, training_loss and predict."""

import numpy as np
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


def test_batch_of_the_example(answer):
    """to_batch gives features in float32, the dtype of the model, and stores and labels in int64."""
    model = worked_example(answer)
    wanted = {
        "store": torch.tensor([1]),
        "features": torch.tensor([[12.0, 50.0]]),
        "label": torch.tensor([1]),
    }
    for name, yours in answer.to_batch(dict(ARRAYS), model).items():
        dtype = wanted[name].dtype
        kept = {
            f"the array's dtype is kept, and {dtype} is asked for": lambda n=name: torch.from_numpy(ARRAYS[n])
        }
        whole = model.score.weight.dtype
        told, likely = "to_batch(arrays, model) casts the model", "`model.double()` changes the model itself"
        expect_that(whole == torch.float32, told, yours=str(whole), likely=likely)
        expect_equal(yours, wanted[name], f'to_batch(arrays, model)["{name}"]', suspects=kept)


def test_loss_of_the_example(answer):
    """The loss of the worked example is 2.1269, and a gradient flows back."""
    model = worked_example(answer)
    loss = answer.training_loss(model, answer.to_batch(dict(ARRAYS), model))
    loss.backward()
    expect_close(loss.detach(), torch.tensor(2.126928), "training_loss(model, batch)", ulps=50)
    wanted = torch.tensor([0.880797, -0.880797])
    expect_close(model.score.bias.grad, wanted, "the gradient of the bias", ulps=50)


def test_probabilities_of_the_example(answer):
    """The probabilities of the worked example come out, in a NumPy array of float32."""
    yours, call = answer.predict(worked_example(answer), dict(ARRAYS)), "predict(model, arrays)"
    expect_equal(type(yours).__name__, "ndarray", f"the type of {call}")
    expect_equal(str(yours.dtype), "float32", f"the dtype of {call}")
    expect_that(
        bool(yours.min() >= 0), f"{call} has a number below 0", yours=str(yours), likely="softmax is missing"
    )
    wanted = torch.tensor([[0.880797, 0.119203]])
    expect_close(torch.from_numpy(yours), wanted, call, ulps=50)
