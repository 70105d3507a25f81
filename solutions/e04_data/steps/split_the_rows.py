import torch
from torch.utils.data import Dataset, random_split


def split_the_rows(dataset: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    g = torch.Generator().manual_seed(seed)
    train, validation = random_split(dataset, [0.8, 0.2], generator=g)
    return train, validation
