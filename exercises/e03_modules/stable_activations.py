"""Sigmoid, softplus, log-sigmoid and GELU, for numbers of any size.

By the book, sigmoid is 1 / (1 + exp(-x)), softplus log(1 + exp(x)), and log-sigmoid the logarithm of a sigmoid. But in
float32 exp(89) is inf, and 1 + 1e-8 is 1: values or gradients become inf, NaN or 0 where they should not. Write them for
numbers from -1e4 to 1e4:

    x = torch.tensor([-200., -20., 0., 200.])
    sigmoid(x)          # [0, 2.0612e-09, 0.5, 1]
    softplus(x)         # [0, 2.0612e-09, 0.6931, 200]
    log_sigmoid(x)      # [-200, -20, -0.6931, 0]
    gelu(torch.tensor([-1., 2.]))               # [-0.1587, 1.9545]
    gelu(torch.tensor([-1., 2.]), tanh=True)    # [-0.1588, 1.9546]

- GELU is x / 2 * (1 + erf(x / √2)); with tanh=True, x / 2 * (1 + tanh(√(2 / π) * (x + 0.044715 * x³))).
- Small results keep their digits: sigmoid(-20) and softplus(-20) are not 0.
- Gradients flow to x, and are right as well, never NaN.
- exp, log1p, erf, tanh and the like may be used; none of PyTorch's activations and losses.

Fine print:
- At 0 gradients are right too: 0.25, 0.5 and 0.5. That of abs(x) is 0 there.
- float16 and bfloat16 are computed in float32 and rounded once, at the end. float64 stays float64.
- x may be inf or -inf, except for gelu: sigmoid 1 and 0, softplus inf and 0, log_sigmoid 0 and -inf.
- x may have any shape and strides, and be empty; it stays as it is.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def sigmoid(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 / (1 + exp(-x)), between 0 and 1."""
    raise NotImplementedError


def softplus(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """log(1 + exp(x)), a smooth relu."""
    raise NotImplementedError


def log_sigmoid(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The logarithm of the sigmoid."""
    raise NotImplementedError


def gelu(x: Float[Tensor, "*shape"], tanh: bool = False) -> Float[Tensor, "*shape"]:
    """x times the share of a normal distribution below x, or its approximation by tanh."""
    raise NotImplementedError
