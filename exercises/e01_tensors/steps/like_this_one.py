"""Make a tensor that fits another one: `torch.zeros_like`.

Return three tensors that fit x: zeros, ones, and `value` everywhere. Each has the shape of x, its *dtype*
(the kind of its numbers: whole, or decimal) and its *device* (where it lies: CPU or GPU).

    x = torch.tensor([[3, 4], [1, 5]])
    like_this_one(x, 7)
    # (tensor([[0, 0], [0, 0]]), tensor([[1, 1], [1, 1]]),
    #  tensor([[7, 7], [7, 7]]))

New here: `torch.zeros_like(x)`, `torch.ones_like(x)` and `torch.full_like(x, 7)` take shape, dtype and device
from x. `torch.zeros(x.shape)` takes only the shape: it is decimal, and on the CPU.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor


def like_this_one(
    x: Shaped[Tensor, "*shape"], value: int
) -> tuple[Shaped[Tensor, "*shape"], Shaped[Tensor, "*shape"], Shaped[Tensor, "*shape"]]:
    raise NotImplementedError
