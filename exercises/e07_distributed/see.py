"""Which of thirty rows each of four ranks has, as you share them out."""

from collections.abc import Iterator
from types import ModuleType

import torch

from grader.learner.plot import shades

ROWS, RANKS = 30, 4


def see(my_share: ModuleType) -> Iterator[str]:
    rows = torch.arange(float(ROWS))[:, None]
    held = [my_share.my_share(rows, rank, RANKS).flatten().tolist() for rank in range(RANKS)]
    yield shades([[float(row in mine) for row in range(ROWS)] for mine in held])
    yield f"a line is a rank; they have {', '.join(str(len(mine)) for mine in held)} rows"
