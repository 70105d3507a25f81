from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def loss_of_a_sequence(
    logits: Float[Tensor, "batch time vocab"], ids: Int64[Tensor, "batch time"]
) -> Float[Tensor, ""]:
    return F.cross_entropy(logits.flatten(0, 1), ids.flatten())  # (batch · time, vocab), (batch · time,)
