import torch


def limits_of_a_dtype(dtype: torch.dtype) -> tuple[float, float]:
    info = torch.finfo(dtype)
    return info.max, info.eps
