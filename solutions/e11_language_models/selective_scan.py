import torch
from jaxtyping import Float
from torch import Tensor


def selective_scan(
    x: Float[Tensor, "batch time dim"],
    delta: Float[Tensor, "batch time dim"],
    A: Float[Tensor, "dim state"],
    B: Float[Tensor, "batch time state"],
    C: Float[Tensor, "batch time state"],
    D: Float[Tensor, "dim"],
    h: Float[Tensor, "batch dim state"] | None = None,
) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim state"]]:
    dtype, (batch, time, dim) = x.dtype, x.shape
    x, delta, A, B, C, D = (_exact(t) for t in (x, delta, A, B, C, D))
    first = x.new_zeros(batch, dim, A.shape[1]) if h is None else _exact(h)
    decay = torch.exp(delta.unsqueeze(-1) * A)  # (batch, time, dim, state)
    added = (delta * x).unsqueeze(-1) * B.unsqueeze(-2)  # (batch, time, dim, state)
    # Before the first token stands h itself: what is added there, and nothing is before it.
    decay = torch.cat([torch.zeros_like(first).unsqueeze(1), decay], 1)  # (batch, 1 + time, dim, state)
    states = torch.cat([first.unsqueeze(1), added], 1)
    reach = 1  # each entry holds what comes of so many tokens
    while reach <= time:
        states = torch.cat([states[:, :reach], states[:, reach:] + decay[:, reach:] * states[:, :-reach]], 1)
        decay = torch.cat([decay[:, :reach], decay[:, reach:] * decay[:, :-reach]], 1)
        reach *= 2
    y = (states[:, 1:] * C.unsqueeze(-2)).sum(-1) + D * x  # (batch, time, dim)
    return y.to(dtype), states[:, -1].clone()


def _exact(t: Tensor) -> Tensor:
    return t if t.dtype == torch.float64 else t.float()
