"""The dtypes a model wants: ids to look up, numbers to compute with, a mask to select by.

A batch comes from files in whatever dtypes take the least room. But an embedding wants its token ids in int64, a linear
layer its features in float32, and `x[mask]` a mask of bools. Bring the three into these dtypes and return them.

    model_inputs(
        torch.tensor([50256, 7], dtype=torch.uint16),         # -> tensor([50256, 7])       int64
        torch.tensor([0.5, 2.0], dtype=torch.float64),        # -> tensor([0.5, 2.0])       float32
        torch.tensor([-1, 0], dtype=torch.int8),              # -> tensor([True, False])    bool
    )

- Ids and features keep their values, up to the rounding to float32.
- The mask is True wherever it is not 0: at 255, -1 and 0.5, too.

Fine print:
- Token ids in a float dtype, or bools, raise TypeError.
- A tensor that has its dtype already is not copied, however it lies in memory.
- Every tensor stays on its device, without a trip through the CPU.
- Tensors all the way, no NumPy and no Python numbers: training needs that (section e02).
"""

import torch
from jaxtyping import Bool, Float32, Int64, Shaped
from torch import Tensor


def model_inputs(
    token_ids: Shaped[Tensor, "*ids"], features: Shaped[Tensor, "*features"], mask: Shaped[Tensor, "*mask"]
) -> tuple[Int64[Tensor, "*ids"], Float32[Tensor, "*features"], Bool[Tensor, "*mask"]]:
    """The ids, the features and the mask, in the dtypes of a model's inputs."""
    raise NotImplementedError
