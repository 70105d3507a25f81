from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def mixture_of_experts(
    x: Float[Tensor, "tokens dim"],
    logits: Float[Tensor, "tokens experts"],
    experts: Sequence[Callable[[Tensor], Tensor]],
    k: int = 2,
    capacity: int | None = None,
) -> Float[Tensor, "tokens dim"]:
    top, chosen = logits.topk(k, dim=-1)  # (tokens, k) both
    weights = top.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    result = torch.zeros_like(x)
    for number, expert in enumerate(experts):
        choice, token = torch.where((chosen == number).T)  # by choice, then by token
        choice, token = choice[:capacity], token[:capacity]
        if len(token):
            weighed = expert(x[token]) * weights[token, choice, None]  # (its tokens, dim)
            result = result.index_add(0, token, weighed.to(x.dtype))
    return result


def balance_loss(logits: Float[Tensor, "tokens experts"]) -> Float[Tensor, ""]:
    experts = logits.shape[-1]
    shares = F.one_hot(logits.argmax(-1), experts).float().mean(0)  # (experts,)
    return experts * (shares * logits.softmax(-1).mean(0)).sum()
