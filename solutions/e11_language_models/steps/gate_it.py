from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def gate_it(
    gate: Float[Tensor, "rows features"], value: Float[Tensor, "rows features"]
) -> Float[Tensor, "rows features"]:
    return F.silu(gate) * value  # (rows, features)
