from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        scores = _scores(q, k, causal)
        logsumexp = scores.logsumexp(-1, keepdim=True)  # (*batch, queries, 1)
        result = (scores - logsumexp).exp() @ v  # (*batch, queries, width)
        ctx.save_for_backward(q, k, v, result, logsumexp)
        ctx.causal = causal
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, result, logsumexp = ctx.saved_tensors
        weights = (_scores(q, k, ctx.causal) - logsumexp).exp()  # (*batch, queries, keys)
        for_weights = grad @ v.mT
        # What softmax takes off, the sum of weights * for_weights over the keys, is grad · result.
        for_scores = weights * (for_weights - (grad * result).sum(-1, keepdim=True))
        for_scores = for_scores / q.shape[-1] ** 0.5
        return for_scores @ k, for_scores.mT @ q, weights.mT @ grad, None


def attention(
    q: Float[Tensor, "*batch queries dim"],
    k: Float[Tensor, "*batch keys dim"],
    v: Float[Tensor, "*batch keys width"],
    causal: bool = False,
) -> Float[Tensor, "*batch queries width"]:
    result: Tensor = Attention.apply(q, k, v, causal)
    return result


def _scores(q: Tensor, k: Tensor, causal: bool) -> Tensor:
    scores = q @ k.mT / q.shape[-1] ** 0.5  # (*batch, queries, keys)
    if causal:
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    return scores
