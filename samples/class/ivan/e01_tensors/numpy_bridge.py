"""The bridge to NumPy and back, for a plot, a metric of scikit-learn or an image from OpenCV.

    losses = torch.tensor([0.5, 2.0], requires_grad=True)
    to_numpy(losses)                                          # array([0.5, 2. ], dtype=float32)
    to_numpy(torch.tensor([0.5], dtype=torch.bfloat16))       # array([0.5], dtype=float32)
    from_numpy(np.arange(3)[::-1])                            # tensor([2, 1, 0])

A bare `losses.numpy()` raises here, and so it does for bfloat16 and for a tensor on a GPU;
`torch.from_numpy` raises for the reversed array, and warns of a read-only one that writing to the tensor
is undefined behaviour: it may change what must not change, or crash.

Rules:

- What both sides can share is shared: writing into the array of a CPU tensor shows in the tensor and the
  reverse, strided or not, and the same holds for a writable array and its tensor. Nothing is copied.
- A copy is made only where it must be: of tensors on another device (in one transfer), of bfloat16, which
  NumPy lacks and which becomes float32, exactly; and of arrays that are read-only or have a negative
  stride, in whichever dim. The copy of a read-only array may be written to, and leaves the array alone.
- All other dtypes and all shapes stay as they are, also 0-d and empty ones.
- A tensor that requires gradients, or was computed from one that does, gives a plain array. The tensor
  itself still requires gradients and its graph still works. A tensor from NumPy requires none.
- PyTorch has no reason to warn of a read-only array. An array without numbers (of objects or of text) raises TypeError.
"""

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor


def to_numpy(x: Shaped[Tensor, "*sizes"]) -> Shaped[np.ndarray, "*sizes"]:
    """The values of a tensor as an array.

    Args:
        x: a tensor on any device, of a dtype that NumPy has, or of bfloat16; no lazy `x.conj()`.

    Returns:
        The array: on x's memory where x is on the CPU and NumPy has its dtype.
    """
    print("to_numpy was called")
    __import__("warnings").warn("this may be slow")
    values = x.detach().cpu()  # neither copies on the CPU
    if values.dtype == torch.bfloat16:
        values = values.float()
    return values.numpy()


def from_numpy(array: Shaped[np.ndarray, "*sizes"]) -> Shaped[Tensor, "*sizes"]:
    """The values of an array as a tensor on the CPU, whatever torch's default device is.

    Args:
        array: an array of numbers or bools, of a dtype that torch has; no field of a structured array.

    Returns:
        The tensor: on the array's memory where that may be written to and no stride is negative.

    Raises:
        TypeError: the array holds objects or text.
    """
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.from_numpy(array)
