import torch
from jaxtyping import Float
from torch import Tensor


def fits(
    players: Float[Tensor, "games players skills"], tasks: Float[Tensor, "games tasks skills"]
) -> Float[Tensor, "games players tasks"]:
    return torch.bmm(players, tasks.transpose(1, 2))  # (games, players, tasks)
