"""Straight through: the value of a step, the gradient of a slope.

Rounding, signs and choices are flat nearly everywhere, so that nothing before them learns. Quantized networks, VQ-VAE and
Gumbel-softmax give the value of the step forward, and backward the gradient of something that has one. (Bengio et al.
2013; Hubara et al. 2016, equation 4.)

    x = torch.tensor([0.7, -0.3, 1.6], requires_grad=True)
    round_to(x, 0.3)      # [0.6, -0.3, 1.5]; derivatives [1, 1, 1]
    binarize(x)           # [1, -1, 1]; derivatives [1, 1, 0]
    pick(x)               # [0, 0, 1]
    (pick(x) * torch.tensor([1.0, 0.0, 0.0])).sum().backward()      # x.grad is that of softmax(x)[0]: [0.19, …]

- `round_to` gives the nearest multiple of step. Backward takes it for x itself.
- `binarize` gives 1 where x is positive, else -1. Backward takes it for x where x is from -1 to 1, and for a constant
  elsewhere.
- `pick` gives 1 at the largest logit along the last dimension, 0 elsewhere. Backward takes it for the softmax of logits.

Fine print:
- `binarize` gives 1 for 0, where torch.sign gives 0. At -1 and 1 gradients pass.
- Of equal logits `pick` picks one.
- Results have the dtype of what came in, half precision too. It stays as it is.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def round_to(x: Float[Tensor, "*shape"], step: float = 1.0) -> Float[Tensor, "*shape"]:
    """The nearest multiples of step; backward passes gradients on unchanged."""
    raise NotImplementedError


def binarize(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 or -1; backward passes gradients on where x is from -1 to 1."""
    raise NotImplementedError


def pick(logits: Float[Tensor, "*shape n"]) -> Float[Tensor, "*shape n"]:
    """1 for the largest logit and 0 for the others; backward is that of softmax."""
    raise NotImplementedError
