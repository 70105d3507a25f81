"""From logits to probabilities and classes.

A classifier gives each photo a row of logits: one raw score for each class. Return the probabilities of the
classes, and for each photo its most probable class.

    logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, -1.0, 3.0]])
    logits_to_classes(logits)
    # (tensor([[0.7870, 0.1065, 0.1065], [0.0466, 0.0171, 0.9362]]),
    #  tensor([0, 2]))

New here: logits may be any numbers; `softmax(dim=1)` makes each row positive with the sum 1. The largest
logit becomes the largest probability, so `argmax(dim=1)` finds the same class in both.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def logits_to_classes(
    logits: Float[Tensor, "rows classes"],
) -> tuple[Float[Tensor, "rows classes"], Int64[Tensor, "rows"]]:
    raise NotImplementedError
