from jaxtyping import Float, Int64
from torch import Tensor


def best_and_confidence(
    logits: Float[Tensor, "*batch classes"],
) -> tuple[Int64[Tensor, "*batch"], Float[Tensor, "*batch"]]:
    best = logits.argmax(dim=-1)  # (*batch)
    probabilities = logits.softmax(dim=-1)  # (*batch, classes)
    confidence = probabilities.gather(-1, best.unsqueeze(-1)).squeeze(-1)  # (*batch)
    return best, confidence
