"""Rare classes: weigh the loss, and know what that does to the logits.

Where 99 of 100 pictures show nothing, "nothing" is a good guess for all of them. Weights in the loss make rare classes
count as much as common ones. Write the two kinds, and the decision that undoes the second:

    class_weights(torch.tensor([0, 0, 0, 1, 2, 2]), classes=3)      # [0.667, 2, 1], as 6 / (3 · 3) and so on
    found = torch.tensor([[1, 0], [0, 0], [0, 1], [0, 1]])
    positive_weights(found)                                         # [3, 1]: negatives for each positive
    decide(torch.tensor([[1.0, 1.0]]), 0.5, torch.tensor([3.0, 1.0]))     # [[False, True]]: 1 < log 3

- A class's weight, for cross_entropy, is labels / (classes · its labels).
- A column's weight w, for `pos_weight` of BCEWithLogitsLoss, is its negatives / its positives.
- Training with w multiplies the odds p / (1 - p) by w, so a logit is log(p / (1 - p)) + log(w). `decide` says where
  the p without w is above threshold.

Fine print:
- A class without a label has the weight 0. A column without a positive, or without a negative, has the weight 1.
- Labels of -100 are padding and count nowhere. labels may have any shape.
- Weights are float32, on the device of what they are made from. targets may be 0 and 1 in any dtype, or bool.
- decide compares logits: in float32 the sigmoid of 20 is 1, so probabilities tell 20 from 40 no more.
- threshold may be 0, which every p is above, or 1, which none is. Without pos_weight, w is 1.
- No loop over classes or columns.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor


def class_weights(labels: Int[Tensor, "*shape"], classes: int) -> Float[Tensor, " classes"]:
    """The weight of each class, for cross_entropy(logits, labels, weight=...)."""
    raise NotImplementedError


def positive_weights(targets: Float[Tensor, "rows columns"]) -> Float[Tensor, " columns"]:
    """The weight of each column, for binary_cross_entropy_with_logits(..., pos_weight=...)."""
    raise NotImplementedError


def decide(
    logits: Float[Tensor, "rows columns"],
    threshold: float,
    pos_weight: Float[Tensor, " columns"] | None = None,
) -> Bool[Tensor, "rows columns"]:
    """Where the probability is above threshold, for a model that was trained with pos_weight."""
    raise NotImplementedError
