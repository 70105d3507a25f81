from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import Dataset


class TokenFile(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, path: str | Path, block: int, dtype: str = "uint16") -> None:
        self.path = path
        self.block = block
        self.dtype = np.dtype(dtype)
        tokens = Path(path).stat().st_size // self.dtype.itemsize
        self.count = max(tokens - 1, 0) // block  # the last token is a target only
        self._tokens: np.ndarray | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_tokens": None}  # a map is pickled with all that it holds

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Int64[Tensor, "block"], Int64[Tensor, "block"]]:
        start = range(self.count)[index] * self.block
        if self._tokens is None:  # each process opens the file for itself
            self._tokens = np.memmap(self.path, dtype=self.dtype, mode="r")
        piece = self._tokens[start : start + self.block + 1].astype(np.int64)  # (block + 1,), read here
        return torch.from_numpy(piece[:-1].copy()), torch.from_numpy(piece[1:])
