"""The best class and how sure the model is: `max` along a dimension returns a pair.

A classifier gives a logit for each class. Wanted are the class with the largest logit and its
probability, that is softmax(logits) at this class:

    logits = torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0]])    # (batch=2, classes=2)
    best, confidence = best_and_confidence(logits)
    best                # [1, 0]
    confidence          # [0.75, 0.8]

The first try at this reported an accuracy of zero and a confidence of 1 for a quarter of the images,
0 for others. On logits of shape (batch, time, classes) the shapes came out wrong.

Rules:
- The classes lie along the last dimension; there are any number of dimensions before it, also none,
  and their sizes stay as they are: also 1, and 0 in an empty batch. Both results have this shape.
- best is int64. confidence has the dtype of logits. Return the tuple (best, confidence).
- best is decided by the logits: in softmax, rounding may make two classes equal that are not
  (logits of 1e-9 and 2e-9 both become 0.5). No row has its largest logit twice.
- Logits may be large (10000, or -10000), and -inf for classes that are ruled out; one at least is finite.
  confidence is right to the last digits then too, in every dtype: logsumexp would round them away.
- Gradients flow to logits, from the probability of class best also where it rounds to that of another.
  logits is not changed. Both results are on its device, and no number is copied to the host on the way:
  no `.item()`, no `if` that asks for values, no index without dimensions.
- No Python loop over the batch.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def best_and_confidence(
    logits: Float[Tensor, "*batch classes"],
) -> tuple[Int64[Tensor, "*batch"], Float[Tensor, "*batch"]]:
    """Find the class with the largest logit, and its probability.

    Args:
        logits: scores of the classes, (*batch, classes), floating, with one class at least.

    Returns:
        best: the number of the best class, (*batch), int64.
        confidence: its probability, (*batch), in the dtype of logits.
    """
    probabilities = logits.softmax(dim=1)
    best, confidence = probabilities.max(dim=1)
    return best, confidence
