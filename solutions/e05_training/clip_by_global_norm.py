from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


@torch.no_grad()
def clip_by_global_norm(params: Iterable[Float[Tensor, "..."]], max_norm: float) -> Float[Tensor, ""]:
    if not max_norm >= 0:  # written so that NaN is caught
        raise ValueError(f"max_norm must be 0 or above, got {max_norm}")
    grads = [p.grad for p in params if p.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    exact = any(g.dtype == torch.float64 for g in grads)
    norms = torch._foreach_norm(grads, 2, dtype=torch.float64 if exact else torch.float32)  # each ()
    norm = torch.linalg.vector_norm(torch.stack(norms))  # ()
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)  # (), and NaN or 0 where the norm is not finite
    factor = factor.masked_fill(~norm.isfinite(), 1.0)  # decided on the device: nobody waits
    torch._foreach_mul_(grads, factor)
    return norm
