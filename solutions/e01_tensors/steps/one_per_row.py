from jaxtyping import Int
from torch import Tensor


def one_per_row(scores: Int[Tensor, "rows columns"], classes: Int[Tensor, " rows"]) -> Int[Tensor, " rows"]:
    return scores.gather(1, classes.unsqueeze(1)).squeeze(1)  # (rows, 1) to (rows,)
