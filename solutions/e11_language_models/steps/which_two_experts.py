from jaxtyping import Float, Int
from torch import Tensor


def which_two_experts(
    scores: Float[Tensor, "tokens experts"],
) -> tuple[Float[Tensor, "tokens 2"], Int[Tensor, "tokens 2"]]:
    best, places = scores.topk(2, dim=1)  # (tokens, 2) both
    return best.softmax(dim=1), places
