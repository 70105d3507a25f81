"""Has a worker that hands over tensors, each of which takes a descriptor.
then = "_right.py"
deserves = ["passed"]
"""
import torch
from torch.utils.data import DataLoader, TensorDataset
list(DataLoader(TensorDataset(torch.ones(8, 2)), num_workers=1))
