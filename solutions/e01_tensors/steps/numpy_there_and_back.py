import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def numpy_there_and_back(
    array: Float[np.ndarray, "*shape"],
) -> tuple[Float[Tensor, "*shape"], Float[np.ndarray, "*shape"]]:
    doubled = 2 * torch.from_numpy(array)
    return doubled, doubled.numpy()
