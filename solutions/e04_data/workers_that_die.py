import json
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import Dataset


class BadRow(Exception):
    pass  # the loader makes it anew, from the message alone


class JsonRows(Dataset[tuple[Tensor, int]]):
    def __init__(self, lines: Sequence[str], names: Sequence[str]) -> None:
        self.lines = lines
        self.numbers = {name: number for number, name in enumerate(names)}
        self.read = torch.zeros(len(lines), dtype=torch.bool).share_memory_()

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, row: int) -> tuple[Float[Tensor, "numbers"], int]:
        row = range(len(self))[row]  # counted from the front
        self.read[row] = True
        try:
            record = json.loads(self.lines[row])
            return torch.tensor(record["x"], dtype=torch.float32), self.numbers[record["name"]]
        except Exception as error:
            raise BadRow(f"row {row}: {error!r}") from error
