from collections.abc import Callable, Mapping, Sequence

from jaxtyping import Shaped
from torch import Tensor
from torch.autograd import gradcheck


def wrong_backwards(
    functions: Mapping[str, Callable[..., Tensor]], inputs: Sequence[Shaped[Tensor, "..."]]
) -> list[str]:
    wrong = []
    for name, function in functions.items():
        copies = [x.detach().clone() for x in inputs]
        copies = [x.double().requires_grad_() if x.is_floating_point() else x for x in copies]
        try:
            right = gradcheck(function, copies, raise_exception=False)
        except RuntimeError:  # from the backward itself
            right = False
        if not right:
            wrong.append(name)
    return wrong
