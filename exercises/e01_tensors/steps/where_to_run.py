"""Run on the best device: `.to(device)`.

One program is to run on a server with a GPU, on a Mac and on any laptop. `best_device` returns the name of
the best device, a string: "cuda" (an NVIDIA GPU) where there is one, else "mps" (the GPU of a Mac), else
"cpu". `move` returns x on `device`.

    device = best_device()           # "cpu" on a plain laptop
    move(x, device).device.type      # "cpu"

New here: `torch.cuda.is_available()` and `torch.backends.mps.is_available()` tell what is there.
`x.to(device)` returns x on that device. Tensors that meet must be on the same one.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor


def best_device() -> str:
    raise NotImplementedError


def move(x: Shaped[Tensor, "*shape"], device: str | torch.device) -> Shaped[Tensor, "*shape"]:
    raise NotImplementedError
