"""Attention, and its backward by hand.

Autograd keeps the weights of attention for backward, (queries, keys) numbers for each head. FlashAttention keeps a single
number per query, the logsumexp of its scores, and computes the weights again (Dao et al. 2022, section 3.1). Do so in an
`autograd.Function`, whose backward you derive: the matrix products, and the softmax between them.

    scores = q @ kᵀ / sqrt(dim);  weights = softmax(scores);  result = weights @ v

    q, k = torch.tensor([[[1.0]]]), torch.tensor([[[0.0], [1.0986]]])     # scores log 1 and log 3
    v = torch.tensor([[[1.0], [5.0]]])
    attention(q, k, v)        # [[[4]]]: 1/4 · 1 + 3/4 · 5
    # its gradients: q [[[0.8240]]], k [[[-0.75], [0.75]]], v [[[0.25], [0.75]]]

- `attention` goes through `Attention.apply`. With causal, query t sees keys up to t; there are as many of both then.
- Nothing of the size (queries, keys) is kept for backward.
- backward is formulas: no autograd, and no attention of PyTorch's.
- v may have another width than q and k. `torch.autograd.gradcheck` tells in float64 whether all is right.

Fine print:
- Any number of dimensions may stand before the last two, or none.
- Scores may be as large as 1e4: nothing becomes infinite or NaN.
- The gradient that comes in, and the arguments, are left as they are.
- float64 stays float64. On another device nothing is copied to or from the CPU.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Attention(torch.autograd.Function):
    """Softmax attention that keeps no weights."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        """The result, (*batch, queries, width)."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of q, k and v, and None for causal."""
        raise NotImplementedError


def attention(
    q: Float[Tensor, "*batch queries dim"],
    k: Float[Tensor, "*batch keys dim"],
    v: Float[Tensor, "*batch keys width"],
    causal: bool = False,
) -> Float[Tensor, "*batch queries width"]:
    """Attention of q, k and v, by `Attention.apply`."""
    raise NotImplementedError
