"""An island of float32 in a sea of bfloat16.

A router picks the experts for each token of a large model, and its logits need more than eight binary digits.
But the model runs under `torch.autocast`, and the router with it: matrix products in 16 bits everywhere, and
softmax, sums and layer norms too on the CPU, though not on CUDA. A wrapper says once what shall hold on both:

    router = nn.Linear(2, 2, bias=False)              # say that its weight is [[257, 0], [0, 1]]
    x = torch.ones(1, 2, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        router(x)                                     # [[256.0, 1.0]] in bfloat16, which has no 257
        Float32Island(router)(x)                      # [[257.0, 1.0]] in float32

Rules:
- The block runs with autocast switched off for the type of device on which x lies: "cpu" and "cuda" as well
  as any other that autocast knows.
- Tensors in float16 and bfloat16 among the arguments, positional and keyword, reach it in float32. All else
  reaches it as it is: tensors of other dtypes, numbers, None, also lists, tuples and dicts with all that is
  in them. Outside of every region the same holds: 16 bits become float32.
- The result is what the block returns, as it is, whatever that is and in any dtype.
- Gradients flow to the arguments, each in its own dtype, and to the block's parameters. These are in float32,
  and are not converted, nor are its buffers, in any dtype.
- The block is registered as `block`, so the parameters are called "block.weight" and the like, and `train`,
  `eval` and `to` reach it. It is called as a module, once for each call, so its hooks run.
- Afterwards autocast is as it was before the call, also where the block raises: what follows in the region
  computes in 16 bits again. A region that the block opens inside itself works as usual;
  one without a dtype has the dtype that it would have around the island.
- Nothing is remembered: the island may be built inside a region or outside, and called on one device and the
  next, in a region of float16, of bfloat16, or in none.
"""

from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def _widen(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype in _NARROW else value


_NARROW = (torch.float16, torch.bfloat16)


class Float32Island(nn.Module):
    """Runs a block in float32, whatever region of autocast is around it.

    Args:
        block: a module with float32 parameters, or without any.
    """

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Shaped[Tensor, "*shape"], /, *args: Any, **kwargs: Any) -> Any:
        """Run the block with autocast switched off.

        Args:
            x: its first argument, (*shape), on the device where it computes.
            *args: its other arguments.
            **kwargs: its keyword arguments.

        Returns:
            What the block returns.
        """
        with torch.autocast(x.device.type, enabled=False):
            wide = {name: _widen(value) for name, value in kwargs.items()}
            return self.block(_widen(x), *map(_widen, args), **wide)
