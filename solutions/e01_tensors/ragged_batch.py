import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor


def unpad(
    table: Shaped[Tensor, "batch time *features"], lengths: Int64[Tensor, "batch"]
) -> tuple[Shaped[Tensor, "total *features"], Int64[Tensor, "batch+1"]]:
    offsets = F.pad(lengths.cumsum(0), (1, 0))  # a 0 in front: the first row begins there
    return table[_real(lengths, table.shape[1])], offsets


def pad(
    values: Shaped[Tensor, "total *features"], offsets: Int64[Tensor, "batch+1"], padding: float = 0.0
) -> Shaped[Tensor, "batch time *features"]:
    lengths = offsets.diff()  # (batch,)
    time = int(lengths.max()) if len(lengths) else 0
    table = values.new_full((len(lengths), time, *values.shape[1:]), padding)
    table[_real(lengths, time)] = values  # a mask is filled row by row: in the order of values
    return table


def _real(lengths: Int64[Tensor, "batch"], time: int) -> Bool[Tensor, "batch time"]:
    return torch.arange(time, device=lengths.device) < lengths[:, None]
