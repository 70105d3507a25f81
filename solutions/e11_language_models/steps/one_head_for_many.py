from jaxtyping import Float
from torch import Tensor


def one_head_for_many(
    k: Float[Tensor, "heads time dim"], groups: int
) -> Float[Tensor, "heads groups time dim"]:
    return k.unsqueeze(1).expand(-1, groups, -1, -1)  # (heads, groups, time, dim)
