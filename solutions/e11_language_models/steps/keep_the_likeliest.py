from jaxtyping import Float
from torch import Tensor


def keep_the_likeliest(logits: Float[Tensor, "batch vocab"], k: int) -> Float[Tensor, "batch vocab"]:
    least = logits.topk(k, dim=1).values[:, -1:]  # (batch, 1)
    return logits.masked_fill(logits < least, float("-inf"))
