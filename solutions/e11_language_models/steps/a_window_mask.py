import torch
from jaxtyping import Bool
from torch import Tensor


def a_window_mask(time: int, window: int) -> Bool[Tensor, "time time"]:
    t = torch.arange(time)
    back = t.unsqueeze(1) - t  # (time, time)
    return (back >= 0) & (back < window)
