import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F


class ChurnModel(nn.Module):
    def __init__(self, stores: int, mean: np.ndarray, std: np.ndarray, class_weight: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))  # (features,)
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32))  # (features,)
        self.register_buffer("class_weight", torch.tensor(class_weight, dtype=torch.float32))  # (classes,)
        self.store = nn.Embedding(stores, 3)
        self.score = nn.Linear(len(mean) + 3, len(class_weight))

    def forward(
        self, store: Int64[Tensor, " rows"], features: Float[Tensor, "rows features"]
    ) -> Float[Tensor, "rows classes"]:
        features = (features - self.mean) / self.std  # (rows, features)
        return self.score(torch.cat([self.store(store), features], dim=-1))  # (rows, classes)


def to_batch(arrays: dict[str, np.ndarray], model: ChurnModel) -> dict[str, Tensor]:
    weight = model.score.weight  # asked each time: a model moves, and is cast
    dtypes = {"store": torch.int64, "features": weight.dtype, "label": torch.int64}
    return {name: torch.as_tensor(array).to(weight.device, dtypes[name]) for name, array in arrays.items()}


def training_loss(model: ChurnModel, batch: dict[str, Tensor]) -> Float[Tensor, ""]:
    logits = model(batch["store"], batch["features"])  # (rows, classes)
    return F.cross_entropy(logits, batch["label"], weight=model.class_weight)


def predict(model: ChurnModel, arrays: dict[str, np.ndarray]) -> np.ndarray:
    batch = to_batch(arrays, model)
    logits = model(batch["store"], batch["features"])  # (rows, classes)
    return logits.detach().softmax(dim=-1).float().cpu().numpy()  # NumPy knows neither bfloat16 nor devices
