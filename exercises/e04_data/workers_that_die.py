"""Workers that die: pickles, errors that name the row, and what only a worker knows.

Rows are lines of JSON. With workers the code below fails on macOS: "Can't pickle local object". On Linux an epoch ends
early, without a word, at a row of an unknown name. `except BadRow` does not catch what the loop raises. `data.read` stays
False. Repair it.

    data = JsonRows(['{"x": [1, 2], "name": "cat"}', '{"x": [3], "name": "cow"}'], names=["cat", "dog"])
    data[0]                   # (tensor([1., 2.]), 0)
    for x, y in DataLoader(data, None, num_workers=2): ...      # then BadRow, with "row 1" in its message
    data.read                 # tensor([True, True])

- The dataset goes to spawned workers by pickle.
- A row that is no JSON, or lacks a key, or has an unknown name, raises BadRow where the loop asks for it, with workers
  and without. The message says which row.
- `read` tells, in the main process, which rows were asked for, bad ones included.

Fine print:
- The message says what is wrong as well: the key, or the name.
- A row is bad, too, if x is no list of numbers, or the line no JSON object.
- Row -1 is the last one; the message and `read` count it from the front.
- An index beyond the rows is an IndexError: no row is bad.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import Dataset


@dataclass
class BadRow(Exception):
    """A row that cannot be read."""

    row: int
    reason: str


class JsonRows(Dataset[tuple[Tensor, int]]):
    """Lines of JSON with numbers and a name, as tensors and the number of the name."""

    def __init__(self, lines: Sequence[str], names: Sequence[str]) -> None:
        """Each line has the keys "x" and "name"; a name has the number of its place in `names`."""
        self.lines = lines
        self.number_of = lambda name: next(n for n, known in enumerate(names) if known == name)
        self.read = torch.zeros(len(lines), dtype=torch.bool)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, row: int) -> tuple[Float[Tensor, "numbers"], int]:
        """The numbers and the class of a row."""
        self.read[row] = True
        try:
            record = json.loads(self.lines[row])
            return torch.tensor(record["x"], dtype=torch.float32), self.number_of(record["name"])
        except (ValueError, KeyError) as error:
            raise BadRow(row, str(error)) from error
