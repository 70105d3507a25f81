"""A table as a dataset: rows by index, from either end, and by slice.

`np.loadtxt` has given you measurements in float64, and a class for each row in int32. The model wants
float32, `cross_entropy` wants int64, and the DataLoader wants an object with a length and an index.

    features = np.array([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    data = TabularDataset(features, np.array([1, 0, 2, 1], dtype=np.int32))
    len(data)            # 4
    data[1]              # (tensor([2., 3.]), tensor(0)): float32 and int64
    data[-1]             # (tensor([6., 7.]), tensor(1))
    data[4]              # IndexError: without it, `for x, y in data` has no end
    last = data[::-2]    # a TabularDataset of rows 3 and 1
    last[1]              # (tensor([2., 3.]), tensor(0))

Rules:
- features is a table (rows, columns) of real numbers, labels a column (rows,) of whole numbers or bools, in
  any dtypes, unsigned ones too; both may be tensors or NumPy arrays that `torch.from_numpy` takes, also views
  of larger ones. Either size may be 0, or 1.
- An index gives a pair of tensors: x (columns,) in float32, and y in int64 without dimensions. No label is
  rounded, however large it is.
- Indices go from -len(data), the first row, to len(data) - 1; outside of this there is an IndexError. An
  index is a Python int, a NumPy integer, or an integer tensor without dimensions. Bools, and ints of more
  than 64 bits, are left open.
- A slice gives a TabularDataset of the rows that the slice of a list would have, in its order: steps may be
  negative, ends may be left out or lie outside. It may be empty, and can be sliced again.
- A pair is the caller's own: writing into x or y changes neither the dataset nor what anybody else gets.
- Tables are large. Features that are float32 already and labels that are int64 already are held as they are,
  without a copy. A slice with a positive step copies no rows, and an index no other row than its own.
- A dataset can be pickled, so that it works with DataLoader workers that are forked, and with spawned ones.

TypeError for any other index (1.0, "1", None, a list, a tuple, a tensor with dimensions), and for labels in
a floating dtype, which is what a column with missing values turns into. ValueError if features does not have
two dimensions, or labels one, or if their numbers of rows differ.
"""

import numpy as np
from jaxtyping import Float, Int, Integer, Real, Shaped
from torch import Tensor
from torch.utils.data import Dataset

Array = Tensor | np.ndarray
Index = int | np.integer | Integer[Tensor, ""]


class TabularDataset(Dataset):
    """Rows of a table, each with its label."""

    def __init__(
        self,
        features: Real[Array, "rows columns"],
        labels: Shaped[Array, "rows"],
    ) -> None:
        """Hold a table and its labels.

        Args:
            features: (rows, columns), any real dtype.
            labels: (rows,), integers of any width, or bools.

        Raises:
            TypeError: the labels are floats.
            ValueError: the shapes are others, or do not fit.
        """
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of rows."""
        raise NotImplementedError

    def __getitem__(
        self, index: Index | slice
    ) -> "tuple[Float[Tensor, 'columns'], Int[Tensor, '']] | TabularDataset":
        """One row, or a dataset of some of the rows.

        Args:
            index: an integer from -len to len - 1, or a slice.

        Returns:
            For an integer, x (columns,) in float32 and y () in int64; for a slice, a TabularDataset.

        Raises:
            IndexError: there is no such row.
            TypeError: the index is neither an integer nor a slice.
        """
        raise NotImplementedError
