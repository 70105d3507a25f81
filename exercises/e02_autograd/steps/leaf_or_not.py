"""What PyTorch has recorded of a tensor: `is_leaf` and `grad_fn`.

Why has a tensor no `.grad`? PyTorch's documentation answers in these words: a leaf is a tensor that no
recorded operation has made; any other remembers that operation as its `grad_fn`. Does x require a gradient,
is it a leaf, has it a grad_fn? Return three bools.

    w = torch.ones(2, requires_grad=True)
    leaf_or_not(w)                   # (True, True, False)
    leaf_or_not(w * 3)               # (True, False, True)
    leaf_or_not(torch.ones(2))       # (False, True, False)

New here: `x.requires_grad`, `x.is_leaf`, `x.grad_fn` (None, if there is none).
"""

from torch import Tensor


def leaf_or_not(x: Tensor) -> tuple[bool, bool, bool]:
    raise NotImplementedError
