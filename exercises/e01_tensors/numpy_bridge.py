"""The bridge to NumPy and back, for a plot, a metric of scikit-learn or an image from OpenCV.

    losses = torch.tensor([0.5, 2.0], requires_grad=True)
    to_numpy(losses)                                          # array([0.5, 2. ], dtype=float32)
    to_numpy(torch.tensor([0.5], dtype=torch.bfloat16))       # array([0.5], dtype=float32)
    from_numpy(np.arange(3)[::-1])                            # tensor([2, 1, 0])

A bare `losses.numpy()` raises here, and so it does for bfloat16 and for a tensor on a GPU; `torch.from_numpy` raises for
the reversed array. Write both functions so that all of this works.

- Shapes and dtypes stay as they are. Only bfloat16, which NumPy lacks, becomes float32.
- A CPU tensor and its array share memory: what is written into one shows in the other. So do an array and its tensor.
- A tensor made with `requires_grad=True`, as training needs it (section e02), is none the worse for `to_numpy`.

Fine print:
- Transposed and strided ones are shared as well. Only what cannot be shared is copied: bfloat16, other devices, and arrays
  that are read-only or have a negative stride.
- The tensor of a read-only array is a copy: what is written there leaves the array alone, and torch need not warn.
- A tensor on another device comes in one transfer, which is complete when the call returns.
- 0-d and empty ones keep their shape; a 0-d tensor gives an array, not a number.
- A tensor from NumPy is on the CPU, whatever torch's default device is.
"""

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor


def to_numpy(x: Shaped[Tensor, "*sizes"]) -> Shaped[np.ndarray, "*sizes"]:
    """The values of a tensor, of bfloat16 or of a dtype that NumPy has, as an array."""
    raise NotImplementedError


def from_numpy(array: Shaped[np.ndarray, "*sizes"]) -> Shaped[Tensor, "*sizes"]:
    """The values of an array of numbers or bools as a tensor."""
    raise NotImplementedError
