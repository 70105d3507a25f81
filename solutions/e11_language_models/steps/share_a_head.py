from jaxtyping import Float
from torch import Tensor


def share_a_head(k: Float[Tensor, "heads time dim"], groups: int) -> Float[Tensor, "heads groups time dim"]:
    return k.unsqueeze(1).expand(-1, groups, -1, -1)  # (heads, groups, time, dim)
