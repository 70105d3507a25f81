import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def window_attention(
    q: Float[Tensor, "batch heads time dim"],
    k: Float[Tensor, "batch heads time dim"],
    v: Float[Tensor, "batch heads time dim"],
    window: int,
) -> Float[Tensor, "batch heads time dim"]:
    if window < 1:
        raise ValueError(f"window is to be 1 or more, not {window}")
    time, dim = q.shape[-2:]
    window = min(window, time)
    rest = -time % window  # up to whole blocks
    blocks = F.pad(q, (0, 0, 0, rest)).unflatten(-2, (-1, window))  # (batch, heads, n, window, dim)
    # each block's keys are those of the block before and its own
    keys, values = (
        F.pad(x, (0, 0, window, rest)).unfold(-2, 2 * window, window) for x in (k, v)
    )  # (batch, heads, n, dim, 2 * window)
    scores = blocks @ keys / math.sqrt(dim)  # (batch, heads, n, window, 2 * window)
    place = torch.arange(2 * window, device=q.device) - window  # of the keys, from the block's first token
    back = torch.arange(window, device=q.device)[:, None] - place  # (window, 2 * window)
    first = torch.arange(0, time + rest, window, device=q.device)[:, None, None]  # (n, 1, 1)
    seen = (back >= 0) & (back < window) & (first + place >= 0)  # (n, window, 2 * window)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return (weights @ values.mT).flatten(2, 3)[:, :, :time]  # (batch, heads, time, dim)
