from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor


class PaddedBatch(NamedTuple):
    values: Shaped[Tensor, "batch time *features"]
    lengths: Int[Tensor, "batch"]
    mask: Bool[Tensor, "batch time"]


def pad_collate(
    sequences: Sequence[Shaped[Tensor, "time *features"]], padding: float = 0, multiple_of: int = 1
) -> PaddedBatch:
    if len({sequence.dtype for sequence in sequences}) != 1:
        raise ValueError(f"want sequences of one dtype, got {[sequence.dtype for sequence in sequences]}")
    first = sequences[0]
    lengths = torch.tensor([len(sequence) for sequence in sequences], device=first.device)  # (batch,)
    time = -(-max(map(len, sequences)) // multiple_of) * multiple_of  # rounded up
    values = first.new_full((len(sequences), time, *first.shape[1:]), padding)
    for row, sequence in zip(values, sequences, strict=True):
        row[: len(sequence)] = sequence
    mask = torch.arange(time, device=first.device) < lengths[:, None]  # (batch, time)
    return PaddedBatch(values, lengths, mask)
