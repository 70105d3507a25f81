import torch
from jaxtyping import Float
from torch import Tensor


def filled_boards(
    rows: int, columns: int, value: float
) -> tuple[Float[Tensor, "rows columns"], Float[Tensor, "rows columns"], Float[Tensor, "rows columns"]]:
    return torch.zeros(rows, columns), torch.ones(rows, columns), torch.full((rows, columns), value)
