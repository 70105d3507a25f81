"""Batches of a dataset: `DataLoader`.

A model is trained on a few rows at a time: a batch. A DataLoader goes through a dataset in batches. Tell how many
rows each batch has if it takes four at a time.

    batches_of_four(torch.zeros(10, 3), torch.zeros(10))      # [4, 4, 2]

New here: `TensorDataset(features, labels)` is a dataset of pairs. `DataLoader(dataset, batch_size=4)` is used as in
`for x, y in loader:`, where x holds the features of a batch, one row each, and y its labels.
"""

from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset


def batches_of_four(features: Float[Tensor, "rows columns"], labels: Float[Tensor, "rows"]) -> list[int]:
    raise NotImplementedError
