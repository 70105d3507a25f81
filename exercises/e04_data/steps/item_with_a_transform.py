"""A dataset that changes its items: transforms.

Images are often turned or cropped at random before a model sees them. Wrap a dataset of pairs (x, y), so that
item i is `(transform(x), y)`. dataset: anything with len and `[i]`; here a list.

    data = Transformed([(torch.tensor(1.0), 7), (torch.tensor(2.0), 8)],
                       lambda x: x * 10)
    len(data)        # 2
    data[1]          # (tensor(20.), 8)

Call transform when an item is asked for, and not before: a random one gives something new each time.

New here: a dataset may hold another one: `x, y = self.dataset[i]`.
"""

from collections.abc import Callable

from torch import Tensor
from torch.utils.data import Dataset


class Transformed(Dataset):
    def __init__(self, dataset: Dataset, transform: Callable[[Tensor], Tensor]) -> None:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        raise NotImplementedError
