"""From NumPy to PyTorch and back: `torch.from_numpy` and `.numpy()`.

Half of a program is written in NumPy. Double the numbers of an array, and return them twice: as a tensor, and
as an array (the two may share memory). The array that came in stays as it is.

    numpy_there_and_back(np.array([1.0, 2.5]))
    # (tensor([2., 5.], dtype=torch.float64), array([2., 5.]))

New here: `torch.from_numpy(array)` makes a tensor, `x.numpy()` an array. Both keep the dtype and copy
nothing, so that `x *= 3` changes the array as well, where `3 * x` makes new numbers.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def numpy_there_and_back(
    array: Float[np.ndarray, "*shape"],
) -> tuple[Float[Tensor, "*shape"], Float[np.ndarray, "*shape"]]:
    raise NotImplementedError
