"""A table as a dataset: a row and its label, by index.

`np.loadtxt` has given you measurements in float64, and a class for each row in int32. The model wants features
in float32, `cross_entropy` wants labels in int64, and a DataLoader wants an object with a length and an index.

    features = np.array([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    data = TabularDataset(features, np.array([1, 0, 2, 1], dtype=np.int32))
    len(data)            # 4
    data[1]              # (tensor([2., 3.]), tensor(0)): float32 and int64
    data[-1]             # (tensor([6., 7.]), tensor(1)), as in a list
    data[4]              # IndexError: without it, `for x, y in data` has no end

- The features are a table (rows, columns) of any numbers, the labels whole numbers (rows,), in any dtypes.

Fine print:
- Features and labels may be tensors as well as arrays.
- y is a tensor without dimensions, not a Python number.
- The caller may write into x and y: the dataset stays as it is.
- A slice such as data[1:3] or data[::2] is a TabularDataset of these rows, with index and slices of its own.
- Tables are large: float32 features and int64 labels are held as they are; neither an index nor a slice copies
  other rows than those it gives, and a slice none at all.
- An index may be a NumPy integer, or an integer tensor without dimensions.
- It can be pickled, for workers of a loader.
- TypeError for labels in a floating dtype: they come from a column with gaps. ValueError if the numbers of rows
  differ.
"""

import numpy as np
from jaxtyping import Float, Int, Integer, Real, Shaped
from torch import Tensor
from torch.utils.data import Dataset

Array = Tensor | np.ndarray


class TabularDataset(Dataset):
    """Rows of a table, each with its label."""

    def __init__(self, features: Real[Array, "rows columns"], labels: Shaped[Array, "rows"]) -> None:
        """Hold a table and its labels."""
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of rows."""
        raise NotImplementedError

    def __getitem__(
        self, index: int | np.integer | Integer[Tensor, ""] | slice
    ) -> "tuple[Float[Tensor, 'columns'], Int[Tensor, '']] | TabularDataset":
        """One row and its label; for a slice, a dataset of its rows."""
        raise NotImplementedError
