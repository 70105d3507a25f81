"""Mismatched dtypes and devices: read the error, and mend its cause.

A model that predicts who is going to leave gets its rows from a database, by way of NumPy. `training_loss`
stops; each line that you silence brings the next error, on the laptop

    Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got
        torch.ShortTensor instead (while checking arguments for embedding)
    mat1 and mat2 must have the same dtype, but got Double and Float
    expected target dtype to be Long or Byte, but got Int
    expected scalar type Float but found Double
    Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.

and on the GPU "Expected all tensors to be on the same device" and "can't convert cuda:0 device type tensor
to numpy"; cast to bfloat16 it ends with "Got unsupported ScalarType BFloat16". Once repaired, this holds:

    model = ChurnModel(4, np.array([10.0, 100.0]), np.array([2.0, 50.0]), class_weight=np.array([1.0, 3.0]))
    arrays = {"store": np.array([1], np.int16), "label": np.array([1], np.int32),
              "features": np.array([[12.0, 50.0]])}
    # let the logits be the normalised features, [1, -1]:
    training_loss(model, to_batch(arrays, model))     # 2.1269
    predict(model, arrays)                            # [[0.8808, 0.1192]]

Rules:
- mean, std and class_weight are buffers of the model under these names: they move, are cast and are saved
  with it. They start in torch's default dtype, like its parameters, as copies: writing to the arrays later
  changes nothing.
- to_batch returns a new dict with a tensor for each of the arrays, on the device of the model's parameters:
  "features" in their dtype, "store" and "label" in int64. "label" may be missing. Each array crosses to the
  device once at most. Features come in any floating or integer dtype, stores and labels in any integer one.
- Whether the model was cast to float64, float16 or bfloat16, or moved to another device, after it was built:
  loss and backward work, the loss has the model's dtype, and nothing is copied between host and device.
- predict returns a NumPy array in float32 from every model, also for 0 rows and for a model in training,
  which it leaves in its mode and with the gradients that it had. There is at most one copy back from the
  device.
"""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class ChurnModel(nn.Module):
    """Scores classes of customers, by their store and by features.

    Args:
        stores: the number of stores.
        mean: the mean of each feature, (features,), of any real dtype like the other arrays.
        std: the standard deviation of each feature, (features,).
        class_weight: how much each class counts in the loss, (classes,).
    """

    def __init__(self, stores: int, mean: np.ndarray, std: np.ndarray, class_weight: np.ndarray) -> None:
        super().__init__()
        self.mean = torch.from_numpy(mean)
        self.std = torch.from_numpy(std)
        self.class_weight = torch.from_numpy(class_weight)
        self.store = nn.Embedding(stores, 3)
        self.score = nn.Linear(len(mean) + 3, len(class_weight))

    def forward(
        self, store: Int64[Tensor, " rows"], features: Float[Tensor, "rows features"]
    ) -> Float[Tensor, "rows classes"]:
        """The logits, of three numbers for the store and the normalised features."""
        features = (features - self.mean) / self.std
        return self.score(torch.cat([self.store(store), features], dim=-1))


def to_batch(arrays: dict[str, np.ndarray], model: ChurnModel) -> dict[str, Tensor]:
    """Turn rows of a database into what the model takes.

    Args:
        arrays: "store" (rows,), "features" (rows, features) and perhaps "label" (rows,).
        model: where the batch goes.

    Returns:
        Tensors under the same names and of the same shapes.
    """
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def training_loss(model: ChurnModel, batch: dict[str, Tensor]) -> Float[Tensor, ""]:
    """The mean cross-entropy, weighted by class, of a batch from `to_batch`."""
    logits = model(batch["store"], batch["features"])
    return F.cross_entropy(logits, batch["label"], weight=model.class_weight)


def predict(model: ChurnModel, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The probability of each class, (rows, classes)."""
    batch = to_batch(arrays, model)
    logits = model(batch["store"], batch["features"])
    return logits.softmax(dim=-1).numpy()
