from jaxtyping import Float
from torch import Tensor


def chances_at_a_temperature(
    logits: Float[Tensor, "batch vocab"], temperature: float
) -> Float[Tensor, "batch vocab"]:
    return (logits / temperature).softmax(dim=-1)  # (batch, vocab)
