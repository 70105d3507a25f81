"""The dtypes a model wants: ids to look up, numbers to compute with, a mask to select by.

A batch comes from files in whatever dtype takes the least room: token ids as uint16, features as
float64 or as uint8 pixels, the mask as a column of 0 and 1. An embedding wants int64, a linear layer
float32, and `x[mask]` with a mask of integers means another thing than with one of bools.

    ids, features, mask = model_inputs(
        torch.tensor([50256, 7], dtype=torch.uint16),         # -> tensor([50256, 7])       int64
        torch.tensor([0.5, 2.0], dtype=torch.float64),        # -> tensor([0.5, 2.0])       float32
        torch.tensor([1, 0], dtype=torch.uint8),              # -> tensor([True, False])    bool
    )

Rules:

- Every value stays what it is, up to the rounding to float32; a mask is True wherever it is not 0, so
  also at 255, at -1, at 0.5, at the smallest float64 and at NaN.
- A tensor that has its dtype already costs nothing: what comes back shares its memory, strided or not.
  A tensor in any other dtype is copied into memory of its own. The arguments are never changed.
- Any shapes, also 0-d and empty, which need not agree; every tensor stays on its device, without a trip
  through the CPU. Gradients flow back to the features, whichever floating dtype they have.
- Token ids must be integers: ids in a float dtype or bool raise TypeError, whatever their values.
"""

import torch
from jaxtyping import Bool, Float32, Int64, Shaped
from torch import Tensor


def model_inputs(
    token_ids: Shaped[Tensor, "*ids"], features: Shaped[Tensor, "*features"], mask: Shaped[Tensor, "*mask"]
) -> tuple[Int64[Tensor, "*ids"], Float32[Tensor, "*features"], Bool[Tensor, "*mask"]]:
    """Bring one batch into the dtypes of a model's inputs.

    Args:
        token_ids: ids of any integer dtype, below 2**63 in uint64.
        features: numbers of any integer or floating dtype, or bools.
        mask: what to keep; numbers of any integer or floating dtype, or bools.

    Returns:
        The ids in int64, the features in float32, the mask in bool: a tuple in this order.

    Raises:
        TypeError: the token ids are floats or bools.
    """
    if token_ids.is_floating_point() or token_ids.dtype == torch.bool:
        raise TypeError(f"token ids are integers, not {token_ids.dtype}")
    return token_ids.to(torch.int64), features.to(torch.float32), mask.to(torch.bool)
