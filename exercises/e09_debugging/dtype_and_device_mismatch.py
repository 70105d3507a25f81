"""Mismatched dtypes and devices: read the error, and mend its cause.

A model that predicts who will leave gets rows from a database, as NumPy arrays. `training_loss` stops; each line that
you silence brings the next error, on the laptop

    Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ShortTensor
    mat1 and mat2 must have the same dtype, but got Double and Float
    expected target dtype to be Long or Byte, but got Int
    expected scalar type Float but found Double
    Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.

and on the GPU "Expected all tensors to be on the same device" and "can't convert cuda:0 device type tensor to numpy".
Once repaired:

    model = ChurnModel(4, np.array([10.0, 100.0]), np.array([2.0, 50.0]), class_weight=np.array([1.0, 3.0]))
    arrays = {"store": np.array([1], np.int16), "label": np.array([1], np.int32), "features": np.array([[12.0, 50.0]])}
    # let the logits be the normalised features, [1, -1]:
    training_loss(model, to_batch(arrays, model))     # 2.1269
    predict(model, arrays)                            # [[0.8808, 0.1192]]

- mean, std and class_weight are float32 buffers of the model, under these names: they move and are saved with it.
- to_batch gives a tensor for each array, where the model's parameters are now: features in float32, others in int64.
- "label" may be missing. predict returns a NumPy array in float32, wherever the model is.

Fine print:
- A model may be cast to float64, bfloat16 or float16. Then features and loss are in its dtype, and predict gives
  float32 still: NumPy does not know bfloat16.
- Buffers are copies: who writes to the arrays later changes nothing.
- Features come in any floating dtype or as integers, store and label from int8 to int64.
- Each array crosses to the device once, loss and backward copy nothing, and predict brings its result back in one copy.
- to_batch returns a new dict. predict leaves modes, gradients and the switch for gradients as they are.
"""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class ChurnModel(nn.Module):
    """Scores classes of customers, by their store and by features."""

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
    """Turn rows of a database into what the model takes: tensors under the same names and of the same shapes."""
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
