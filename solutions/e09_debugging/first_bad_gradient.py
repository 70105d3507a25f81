from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only


def first_bad_gradient(model: nn.Module, compute_loss: Callable[[], Float[Tensor, ""]]) -> str | None:
    came_in: dict[str, list[bool]] = {}  # for each name, whether what came in was finite
    handed_on: list[
        tuple[str, list[bool]]
    ] = []  # who handed on a bad gradient, and what came in for that call
    latest: dict[str, list[bool]] = {}

    def begin(name, _module, args, kwargs):
        latest[name] = finite = []

        def alias(x):
            if not (x.requires_grad and torch.is_grad_enabled()):
                return x
            x = x.view_as(x)  # its hook sees this call's share: x itself may be used elsewhere, too
            x.register_hook(lambda grad: None if _finite(grad) else handed_on.append((name, finite)))
            return x

        return tree_map_only(Tensor, alias, (args, kwargs))

    def end(name, _module, _args, output):
        def look(grad, finite=latest[name]):
            finite.append(_finite(grad))
            came_in.setdefault(name, []).append(finite[-1])

        for x in tree_leaves(output):
            if isinstance(x, Tensor) and x.requires_grad:
                x.register_hook(look)

    hooks = []
    try:
        for name, module in model.named_modules():
            hooks.append(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))
            hooks.append(module.register_forward_hook(partial(end, name)))
        loss = compute_loss()
    finally:
        for hook in hooks:
            hook.remove()
    params = [p for p in model.parameters() if p.requires_grad]
    if not params or not loss.requires_grad:
        return None
    grads = torch.autograd.grad(loss, params, allow_unused=True)  # leaves .grad alone, unlike backward()
    for name, finite in handed_on:
        if all(finite):
            return name
    bad = {p for p, grad in zip(params, grads, strict=True) if grad is not None and not _finite(grad)}
    for name, module in reversed(list(model.named_modules())):  # parts come after the module around them
        if all(came_in.get(name, [False])) and bad.intersection(module.parameters()):
            return name
    return None


def _finite(x: Tensor) -> bool:
    return bool(torch.isfinite(x).all())
