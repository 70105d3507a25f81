from functools import partial

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def first_nan(model: nn.Module, inputs: Shaped[Tensor, "..."]) -> str | None:
    if not _finite(inputs):
        raise ValueError("the inputs hold NaN or inf already")
    found = []

    def look(name, _module, args, kwargs, output):
        if not _finite(output) and _finite((args, kwargs)):
            found.append(name)

    hooks = []
    try:
        for name, module in model.named_modules():
            hooks.append(module.register_forward_hook(partial(look, name), with_kwargs=True))
        model(inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else None


def _finite(value: object) -> bool:
    if isinstance(value, Tensor):
        return bool(torch.isfinite(value).all())
    if isinstance(value, dict):
        value = list(value.values())
    return not isinstance(value, (tuple, list)) or all(map(_finite, value))
