"""A loader that pins its batches: `pin_memory`.

A batch is copied faster to a CUDA device from pinned memory: memory that the operating system may not move or
swap to disk. Return a loader that gives batches of batch_size, in order, and pins them if device is a CUDA
device, and only then.

    pinned_and_ready(dataset, 32, torch.device("cuda:1")).pin_memory
    # True
    pinned_and_ready(dataset, 32, torch.device("cpu")).pin_memory
    # False

New here: `DataLoader(dataset, pin_memory=True)`. `device.type` is "cuda", "mps" or "cpu". From pinned memory,
`x.to(device, non_blocking=True)` does not make Python wait.
"""

import torch
from torch.utils.data import DataLoader, Dataset


def pinned_and_ready(dataset: Dataset, batch_size: int, device: torch.device) -> DataLoader:
    raise NotImplementedError
