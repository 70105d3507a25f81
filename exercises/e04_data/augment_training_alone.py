"""Augment the training pictures, and those alone.

Training pictures are changed at random, so that a network does not learn them by heart. Those that it is judged by are not.
With the code below each evaluation gives another accuracy: `train.dataset` and `validation.dataset` are one object, and the
last line changes it for both. Repair it.

    pictures, labels = 51 * torch.ones(10, 2), torch.arange(10)
    prepare, augment = lambda x: x / 255, lambda x: x + 10      # mostly, augment is random
    train, validation = split(pictures, labels, prepare, augment, seed=1)
    train[0]          # ([0.2392, 0.2392], 5): (51 + 10) / 255
    validation[0]     # ([0.2, 0.2], 7): 51 / 255

- The parts are those that `random_split` gives with a generator of that seed: 80 % and 20 %, in its order.
- A training item is `(prepare(augment(x)), y)`, augmented anew each time that it is read.
- A validation item is `(prepare(x), y)`, the same each time.

Fine print:
- An augment that writes into its argument changes no picture: each item works on a copy of one picture.
- The pictures are not copied as a whole, neither by split nor by an item.
- Nothing is augmented before it is asked for.
- Both parts can be pickled, where prepare and augment can.
- torch's global random stream is left alone by split.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import Dataset, random_split

Change = Callable[[Tensor], Tensor]


class Pictures(Dataset[tuple[Tensor, Tensor]]):
    """Pictures and labels, changed on the way out."""

    def __init__(
        self, pictures: Float[Tensor, "n *shape"], labels: Int[Tensor, "n"], *changes: Change
    ) -> None:
        self.pictures = pictures
        self.labels = labels
        self.changes = changes

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        x = self.pictures[index]
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
    """What to train on, augmented, and what to be judged by."""
    everything = Pictures(pictures, labels, prepare)
    generator = torch.Generator().manual_seed(seed)
    train, validation = random_split(everything, [0.8, 0.2], generator=generator)
    train.dataset.changes = (augment, prepare)
    return train, validation
