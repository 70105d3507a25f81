from torch import Tensor


def leaf_or_not(x: Tensor) -> tuple[bool, bool, bool]:
    return x.requires_grad, x.is_leaf, x.grad_fn is not None
