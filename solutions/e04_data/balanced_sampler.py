from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float64, Int
from torch import Tensor
from torch.utils.data import DataLoader, WeightedRandomSampler


def sample_weights(labels: Int[Tensor, "examples"] | Sequence[int]) -> Float64[Tensor, "examples"]:
    numbers = torch.as_tensor(labels).long()
    classes, place, counts = numbers.unique(return_inverse=True, return_counts=True)
    return 1 / (len(classes) * counts.double())[place]  # (examples,)


def balanced_loader(
    dataset: Sequence[Any], labels: Int[Tensor, "examples"] | Sequence[int], batch_size: int, seed: int = 0
) -> DataLoader[Any]:
    if len(labels) != len(dataset):
        raise ValueError(f"{len(labels)} labels for {len(dataset)} examples")
    generator = torch.Generator().manual_seed(seed)
    sampler = WeightedRandomSampler(sample_weights(labels).tolist(), len(dataset), generator=generator)
    return DataLoader(dataset, batch_size, sampler=sampler, generator=torch.Generator())
