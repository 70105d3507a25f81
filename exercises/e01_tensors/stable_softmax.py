"""Softmax and logsumexp by hand, for logits of any size.

softmax turns logits into probabilities: exp(x) divided by the sum of exp(x) along `dim`. logsumexp is the
logarithm of that sum. Written like this, both are inf or NaN for logits near 1e4. Write them so that logits
of any size come out right. A number that is taken from all logits of a slice changes no probability.

    logits = torch.tensor([[0., 0., math.log(2.)], [1e4, 1e4, -math.inf]])
    softmax(logits, dim=1)      # [[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]
    logsumexp(logits, dim=1)    # [1.3863, 10000.6931]: log(4) and 1e4 + log(2)

- One batch may hold slices near 1e4, 0 and -1e4. A masked logit, -inf, has probability 0.
- Tensors all the way: training needs that (section e02).
- Without PyTorch's own softmax, logsumexp and cross_entropy, or a relative of theirs.

Fine print:
- Near 1e4 a probability keeps all its digits: exp(x - logsumexp) would round some away.
- A slice of nothing but -inf has softmax 0, logsumexp -inf and gradient (section e02) 0: never NaN.
- Half precision is computed in float32 and rounded once, at the end. float64 stays float64.
- An empty batch gives an empty result. x holds no +inf and no NaN, and is never empty along `dim`.
- Results are on x's device, and nothing is copied between it and the CPU; x stays as it is.
"""

from jaxtyping import Float
from torch import Tensor


def softmax(x: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*shape"]:
    """Probabilities that add up to one along `dim`, which may be negative."""
    raise NotImplementedError


def logsumexp(x: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*reduced"]:
    """Logarithm of the sum of the exponentials along `dim`, which is gone from the result."""
    raise NotImplementedError
