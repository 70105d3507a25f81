import torch

def merge_heads(x):
    b, h, t, d = x.size()
    return torch.permute(x, (0, 2, 1, 3)).reshape(b, t, h * d)
