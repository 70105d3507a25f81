"""A product for each batch: `torch.bmm`.

In each game, rows say how much of each skill a player has, or a task wants. A player fits a task by the sum of the
products. Return a table, players by tasks, for each game.

    players = torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]]])    # 2 games
    tasks = torch.tensor([[[5.0, 0.0]], [[1.0, 1.0]]])
    fits(players, tasks)      # tensor([[[5.]], [[7.]]])

New here: `torch.bmm(a, b)` multiplies the first matrix of a by the first of b, and so on:
(5, 2, 3) and (5, 3, 4) give (5, 2, 4). `x.transpose(1, 2)` turns each matrix of a batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def fits(
    players: Float[Tensor, "games players skills"], tasks: Float[Tensor, "games tasks skills"]
) -> Float[Tensor, "games players tasks"]:
    raise NotImplementedError
