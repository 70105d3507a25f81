"""Which tokens are real: a mask of padding.

Short texts of a batch are filled up with the id pad. Return two tensors: a mask that is True where a real token
stands, and how many real tokens each text has.

    which_are_real(torch.tensor([[5, 3, 9], [4, 9, 9]]), 9)
    # (tensor([[True, True, False], [True, False, False]]), tensor([2, 1]))

New here: `x != number` is True where they differ. In a sum, `mask.sum(dim=1)`, each True counts as 1.
"""

from jaxtyping import Bool, Int
from torch import Tensor


def which_are_real(
    ids: Int[Tensor, "batch time"], pad: int
) -> tuple[Bool[Tensor, "batch time"], Int[Tensor, "batch"]]:
    raise NotImplementedError
