"""Give numbers the dtype that a model wants: `.long()`, `.float()`, `.bool()`.

What a file holds seldom has the dtype that a model wants. Return ids as int64, features as float32, and flags, which
are 0 or 1, as bool.

    which_dtype(torch.tensor([3.0, 7.0]), torch.tensor([[1, 2], [3, 4]]),
                torch.tensor([0, 1]))
    # (tensor([3, 7]), tensor([[1., 2.], [3., 4.]]), tensor([False,  True]))

New here: `x.dtype` tells what the numbers are: `torch.int64` is whole, `torch.float32` decimal, `torch.bool`
True or False. `x.long()`, `x.float()` and `x.bool()` convert to these; `x.to(torch.int64)` is `x.long()`.
"""

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor


def which_dtype(
    ids: Shaped[Tensor, " rows"], features: Shaped[Tensor, "rows columns"], flags: Shaped[Tensor, " rows"]
) -> tuple[Int[Tensor, " rows"], Float[Tensor, "rows columns"], Bool[Tensor, " rows"]]:
    raise NotImplementedError
