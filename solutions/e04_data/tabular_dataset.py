import numpy as np
import torch
from jaxtyping import Float, Int, Integer, Real, Shaped
from torch import Tensor
from torch.utils.data import Dataset

Array = Tensor | np.ndarray


class TabularDataset(Dataset):
    def __init__(self, features: Real[Array, "rows columns"], labels: Shaped[Array, "rows"]) -> None:
        features, labels = torch.as_tensor(features), torch.as_tensor(labels)
        if len(features) != len(labels):
            raise ValueError(f"{len(features)} rows of features, but {len(labels)} labels")
        if labels.is_floating_point():
            raise TypeError(f"labels are whole numbers, got {labels.dtype}: are some of them missing?")
        self.features = features.float()  # (rows, columns); the same tensor if it is float32
        self.labels = labels.long()  # (rows,)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(
        self, index: int | np.integer | Integer[Tensor, ""] | slice
    ) -> "tuple[Float[Tensor, 'columns'], Int[Tensor, '']] | TabularDataset":
        if isinstance(index, slice):
            return TabularDataset(self.features[index], self.labels[index])
        return self.features[index].clone(), self.labels[index].clone()  # (columns,), ()
