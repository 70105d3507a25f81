from jaxtyping import Int
from torch import Tensor


def inputs_and_what_follows(tokens: Int[Tensor, "n"]) -> tuple[Int[Tensor, "n-1"], Int[Tensor, "n-1"]]:
    return tokens[:-1], tokens[1:]  # (n-1,), (n-1,)
