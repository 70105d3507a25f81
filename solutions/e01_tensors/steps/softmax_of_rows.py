from jaxtyping import Float
from torch import Tensor


def softmax_of_rows(
    scores: Float[Tensor, "*batch classes"],
) -> tuple[Float[Tensor, "*batch classes"], Float[Tensor, "*batch classes"]]:
    return scores.softmax(dim=-1), scores.log_softmax(dim=-1)
