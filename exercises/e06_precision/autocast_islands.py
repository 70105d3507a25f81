"""An island of float32 in a sea of bfloat16.

A router picks experts for each token, and its logits need more than the eight binary digits of bfloat16. But the model
runs under `torch.autocast`, and the router with it. Write a wrapper that runs a block in float32:

    router = nn.Linear(2, 2, bias=False)              # say that its weight is [[257, 0], [0, 1]]
    x = torch.ones(1, 2, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        router(x)                                     # [[256.0, 1.0]] in bfloat16, which has no 257
        Float32Island(router)(x)                      # [[257.0, 1.0]] in float32

- While the block runs, autocast is off for the type of device on which x lies.
- The block gets a float16 or bfloat16 x in float32: without autocast nothing casts it.
- Afterwards autocast is as before: what follows computes in 16 bits again.
- The block is registered as `block`, and runs once a call, with its hooks.
- Gradients flow to x, in its own dtype, and to the block's float32 parameters.

Fine print:
- float16 and bfloat16 tensors among the other arguments, also by name, become float32. All else (int64, bool, float64,
  numbers, None) reaches the block as it is, x too.
- The result is what the block returns, whatever that is.
- Outside of every region the same holds: 16 bits become float32.
- Where the block raises, autocast is as before, too.
- The block may have no parameters, and the device may be any: "cpu" or "cuda" is not written in.
"""

from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


class Float32Island(nn.Module):
    """Runs a block in float32, whatever region of autocast is around it."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Shaped[Tensor, "*shape"], /, *args: Any, **kwargs: Any) -> Any:
        """What the block returns for these arguments, with autocast switched off."""
        raise NotImplementedError
