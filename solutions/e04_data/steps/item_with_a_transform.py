from collections.abc import Callable

from torch import Tensor
from torch.utils.data import Dataset


class Transformed(Dataset):
    def __init__(self, dataset: Dataset, transform: Callable[[Tensor], Tensor]) -> None:
        self.dataset = dataset
        self.transform = transform

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        x, y = self.dataset[i]
        return self.transform(x), y
