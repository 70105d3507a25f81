"""Muon: a step in which all directions of a matrix count alike.

The gradient of a weight matrix has a few large singular values, and its other directions hardly move. Muon keeps the
singular vectors and brings all singular values near 1, by matrix products alone (Jordan et al. 2024). For a matrix p of
rows and columns with the gradient g:

    m ← momentum · m + g                  # begins at zero
    u ← g + momentum · m                  # Nesterov
    X ← u / ‖u‖                           # the root of the sum of all squares: Frobenius norm
    five times:   A ← X Xᵀ,   X ← 3.4445 X + (-4.7750 A + 2.0315 A A) X       # Newton-Schulz
    p ← p · (1 - lr · weight_decay) - lr · √max(1, rows / columns) · X

    p = torch.nn.Parameter(torch.ones(4, 2))
    optimizer = Muon([p], lr=0.1, weight_decay=0.5)
    p.grad = torch.tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    optimizer.step()          # [[0.8478, 0.95], [0.95, 0.7917], [0.95, 0.95], [0.95, 0.95]]

- lr, momentum and weight_decay are those of the parameter's group, as they are at this step.
- m is kept in `self.state[p]`: then a run goes on from a loaded `state_dict`.
- Nothing of torch's own Muon runs.

Fine print:
- float32 is computed in float32. (The published code's bfloat16 does the job.)
- Newton-Schulz runs on the shorter side: where rows > columns, on Xᵀ. Then no A is (rows, rows).
- A gradient of zeros moves nothing, without NaN: 1e-7, say, is added to ‖u‖.
- A parameter whose `.grad` is None stays as it is, and so does its m.
- A step leaves `.grad` as it is.
- A parameter that is no matrix, such as a bias, raises ValueError when the optimizer is made.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 0.02,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move each matrix that has a gradient; return what closure returns, or None without one."""
        raise NotImplementedError
