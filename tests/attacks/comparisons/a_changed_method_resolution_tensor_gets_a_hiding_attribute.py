"""A changed method resolution: Tensor gets a hiding attribute.
deserves = ["tampered", "broken"]
"""
import torch
torch.Tensor.shape = property(lambda s: torch.Size([]))
