import math
import torch

def pick_device():
    name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return torch.device(name)

def angle_dtype(device):
    return torch.float32 if "mps" in str(device) else torch.float64

def add_positions(x):
    wide = x.new_ones(x.shape[-2:], dtype=angle_dtype(x.device))
    position = wide.cumsum(0) - 1
    column = wide.cumsum(1) - 1
    even = column.remainder(2) == 0
    angle = position / torch.pow(10000.0, (column - column.remainder(2)) / x.shape[-1])
    return x + torch.where(even, angle.sin(), angle.cos()).type(x.dtype)
