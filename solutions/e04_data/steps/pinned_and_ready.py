import torch
from torch.utils.data import DataLoader, Dataset


def pinned_and_ready(dataset: Dataset, batch_size: int, device: torch.device) -> DataLoader:
    return DataLoader(dataset, batch_size=batch_size, pin_memory=device.type == "cuda")
