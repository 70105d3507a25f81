from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import Dataset, Subset, random_split

Change = Callable[[Tensor], Tensor]


class Pictures(Dataset[tuple[Tensor, Tensor]]):
    def __init__(
        self, pictures: Float[Tensor, "n *shape"], labels: Int[Tensor, "n"], *changes: Change
    ) -> None:
        self.pictures = pictures
        self.labels = labels
        self.changes = changes  # one after the other

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        x = self.pictures[index].clone()  # a change may write into it
        for change in self.changes:
            x = change(x)
        return x, self.labels[index]


def split(
    pictures: Float[Tensor, "n *shape"],
    labels: Int[Tensor, "n"],
    prepare: Change,
    augment: Change,
    seed: int = 0,
) -> tuple[Dataset[Any], Dataset[Any]]:
    plain = Pictures(pictures, labels, prepare)
    augmented = Pictures(pictures, labels, augment, prepare)  # another object, of the same tensors
    generator = torch.Generator().manual_seed(seed)
    train, validation = random_split(plain, [0.8, 0.2], generator=generator)
    return Subset(augmented, train.indices), validation
