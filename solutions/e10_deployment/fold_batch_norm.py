import copy

import torch
from torch import nn


@torch.no_grad()
def fold(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> nn.Conv2d:
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError("a norm without running statistics can't be folded")
    dtype = torch.promote_types(conv.weight.dtype, torch.float32)
    mean, factor = norm.running_mean.to(dtype), (norm.running_var.to(dtype) + norm.eps).rsqrt()
    if norm.weight is not None:
        factor = factor * norm.weight.to(dtype)
    bias = -mean if conv.bias is None else conv.bias.to(dtype) - mean
    bias = bias * factor
    if norm.bias is not None:
        bias = bias + norm.bias.to(dtype)
    folded = copy.deepcopy(conv)
    folded.weight.copy_(conv.weight.to(dtype) * factor[:, None, None, None])
    folded.bias = nn.Parameter(bias.to(conv.weight.dtype))
    return folded.eval()


def fold_all(model: nn.Module) -> nn.Module:
    model = copy.deepcopy(model).eval()
    for chain in model.modules():
        if not isinstance(chain, nn.Sequential):
            continue
        for i in range(len(chain) - 1):
            conv, norm = chain[i], chain[i + 1]
            if (
                isinstance(conv, nn.Conv2d)
                and isinstance(norm, nn.BatchNorm2d)
                and norm.running_mean is not None
            ):
                chain[i], chain[i + 1] = fold(conv, norm), nn.Identity()
    return model
