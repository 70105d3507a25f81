from jaxtyping import Int
from torch import Tensor


def share_right(guesses: Int[Tensor, " n"], labels: Int[Tensor, " n"]) -> float:
    return (guesses == labels).float().mean().item()


def all_right(guesses: Int[Tensor, " n"], labels: Int[Tensor, " n"]) -> bool:
    return bool((guesses == labels).all())
