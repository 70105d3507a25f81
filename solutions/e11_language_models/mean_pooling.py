import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor


def mean_pool(
    hidden: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"] | Int64[Tensor, "batch time"]
) -> Float[Tensor, "batch dim"]:
    exact = hidden if hidden.dtype == torch.float64 else hidden.float()
    kept = exact.masked_fill(mask.logical_not().unsqueeze(-1), 0)  # a product would keep NaN
    counts = mask.sum(dim=1, keepdim=True)  # (batch, 1)
    return (kept.sum(dim=1) / counts.clamp(min=1)).to(hidden.dtype)  # (batch, dim)
