import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def categorical_kl(
    p: Float[Tensor, "*batch classes"], logits: Float[Tensor, "*batch classes"]
) -> Float[Tensor, ""]:
    log_q = _wide(logits).log_softmax(-1).masked_fill(p == 0, 0.0)  # 0 * -inf is NaN
    terms = F.kl_div(log_q, _wide(p), reduction="none")  # (*batch, classes)
    return terms.sum(-1).mean().to(logits.dtype)


def gaussian_kl(
    mean: Float[Tensor, "*batch features"],
    log_variance: Float[Tensor, "*batch features"],
    prior: tuple[Float[Tensor, "*batch features"], Float[Tensor, "*batch features"]] | None = None,
) -> Float[Tensor, ""]:
    m, v = _wide(mean), _wide(log_variance)
    n, w = map(_wide, prior) if prior is not None else (torch.zeros_like(m), torch.zeros_like(v))
    terms = ((v - w).exp() + (m - n).square() * (-w).exp() - 1 - (v - w)) / 2  # (*batch, features)
    return terms.sum(-1).mean().to(mean.dtype)


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))
