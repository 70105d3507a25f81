"""A loss from log-probabilities: `F.nll_loss`.

Some networks return log-probabilities in place of logits. Return the mean loss of each photo (row): the negative
log-probability of its true class.

    log_probs = torch.tensor([[0.25, 0.75], [0.5, 0.5]]).log()
    mean_loss(log_probs, torch.tensor([0, 1]))
    # tensor(1.0397), the mean of -log(0.25) and -log(0.5)

New here: `F.nll_loss(log_probs, classes)`, the *negative log-likelihood*. `F.cross_entropy(logits, classes)` is
`log_softmax` and then this.
"""

from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F


def mean_loss(
    log_probs: Float[Tensor, "photos classes"], classes: Int64[Tensor, "photos"]
) -> Float[Tensor, ""]:
    raise NotImplementedError
