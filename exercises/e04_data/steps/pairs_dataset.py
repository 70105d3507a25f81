"""A dataset of pairs: `Dataset`.

Training reads its data from a dataset: an object that has a length, and gives item i when it is asked. Write one
for a table of features, with a label for each row.

    data = Pairs(torch.tensor([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]]),
                 torch.tensor([1, 0, 2]))
    len(data)        # 3
    data[1]          # (tensor([2., 3.]), tensor(0)): a row, and its label

New here: a class that inherits from `Dataset`. Python calls its method `__len__` for `len(data)`, and its
`__getitem__` for `data[i]`.
"""

from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import Dataset


class Pairs(Dataset):
    def __init__(self, features: Float[Tensor, "rows columns"], labels: Int[Tensor, "rows"]) -> None:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, i: int) -> tuple[Float[Tensor, "columns"], Int[Tensor, ""]]:
        raise NotImplementedError
