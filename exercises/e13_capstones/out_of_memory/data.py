"""Texts: each is about one topic, and draws its words from those of the topic."""

import torch
from torch import Tensor

WORDS, TOPICS = 1000, 50


def make(size: int, time: int, seed: int) -> Tensor:
    """`size` texts of time + 1 words, one behind the other, as int16."""
    gen = torch.Generator().manual_seed(seed)
    topics = torch.randint(TOPICS, (size, 1), generator=gen)
    words = torch.randint(WORDS // TOPICS, (size, time + 1), generator=gen)
    return (topics * (WORDS // TOPICS) + words).flatten().short()  # (size * (time + 1),)


class Texts:
    """Texts of time + 1 words, cut from one long row of numbers when they are asked for."""

    def __init__(self, ids: Tensor, time: int) -> None:
        self.ids, self.time = ids, time

    def __len__(self) -> int:
        return len(self.ids) // (self.time + 1)

    def batch(self, rows: Tensor) -> Tensor:
        """The texts of these numbers, (rows, time + 1), as int64."""
        places = rows.unsqueeze(1) * (self.time + 1) + torch.arange(self.time + 1)
        return self.ids[places].long()
