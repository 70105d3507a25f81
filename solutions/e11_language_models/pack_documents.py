from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int64
from torch import Tensor


def pack(
    documents: Sequence[Sequence[int]], length: int, pad: int = 0
) -> tuple[
    Int64[Tensor, "rows length"],
    Int64[Tensor, "rows length"],
    Int64[Tensor, "rows length"],
    Int64[Tensor, "rows length"],
]:
    rows: list[list[Sequence[int]]] = []
    room = 0
    for document in documents:
        for start in range(0, len(document), length):
            piece = document[start : start + length]
            if len(piece) > room:
                rows.append([])
                room = length
            rows[-1].append(piece)
            room -= len(piece)

    size = (len(rows), length)
    ids, labels = torch.full(size, pad), torch.full(size, -100)
    positions, segments = torch.zeros(size, dtype=torch.int64), torch.zeros(size, dtype=torch.int64)
    for row, pieces in enumerate(rows):
        start = 0
        for number, piece in enumerate(pieces, 1):
            end = start + len(piece)
            ids[row, start:end] = torch.tensor(piece)
            labels[row, start + 1 : end] = torch.tensor(piece[1:])
            positions[row, start:end] = torch.arange(len(piece))
            segments[row, start:end] = number
            start = end
    return ids, labels, positions, segments


def packed_mask(segments: Int64[Tensor, "rows length"]) -> Bool[Tensor, "rows length length"]:
    same = segments.unsqueeze(2) == segments.unsqueeze(1)  # (rows, length, length)
    return same.tril()  # padding sees padding: no row of the mask is empty
