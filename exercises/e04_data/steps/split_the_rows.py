"""Split a dataset: `random_split`.

Before training, put some rows aside: on these the model is tried out, and never trained. Return two datasets:
80 % of the rows, drawn at random, and the other 20 %.

    train, validation = split_the_rows(dataset, seed=1)
    # of 10 rows
    len(train), len(validation)
    # (8, 2), and no row in both

- The same seed gives the same split. The number of rows is a multiple of five.

New here: `random_split(dataset, [0.8, 0.2], generator=g)` gives both; g is the source of the random numbers:
`g = torch.Generator().manual_seed(seed)`.
"""

import torch
from torch.utils.data import Dataset, random_split


def split_the_rows(dataset: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    raise NotImplementedError
