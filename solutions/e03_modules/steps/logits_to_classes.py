from jaxtyping import Float, Int64
from torch import Tensor


def logits_to_classes(
    logits: Float[Tensor, "rows classes"],
) -> tuple[Float[Tensor, "rows classes"], Int64[Tensor, "rows"]]:
    return logits.softmax(dim=1), logits.argmax(dim=1)
