from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def fused_attention(
    q: Float[Tensor, "batch heads time dim"],
    k: Float[Tensor, "batch heads time dim"],
    v: Float[Tensor, "batch heads time values"],
) -> Float[Tensor, "batch heads time values"]:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
