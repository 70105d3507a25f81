"""NaN in the loss at step 40: which module made it?

`first_nan` runs one forward and one backward pass, and names the first module that emits NaN or inf though
it got none. All those after it only hand it on.

    model = nn.Sequential(nn.Linear(2, 2), Log(), nn.Linear(2, 1))
    first_nan(model, lambda: model(inputs).mean())     # Culprit("forward", "1"): the log of a negative number

Rules:
- `compute_loss()` calls the model, once or more often, and returns a loss without dimensions. It runs once.
- The result is None if the loss and the gradients of all parameters that require one are finite. What passes
  between the modules is then as it should be, also scores that are masked with -inf.
- Otherwise it is the first of these that applies:
  1. Culprit("forward", name): a call of a module that returns NaN or inf, though no tensor among its
     arguments held any as it began. Of several such calls the one that returned first.
  2. Culprit("outside", ""): the loss is NaN or inf. The data or the loss function must be to blame.
  3. Culprit("backward", name): a call that hands on NaN or inf as the gradient for a tensor among its
     arguments, though the gradients that came in, for the tensors that it returned, were finite. Of several
     the one that the backward pass comes to first; of two within each other the inner one.
  4. Culprit("parameter", name): the first in `model.named_parameters()` that has such a gradient.
- Parameters and buffers are no arguments. Arguments may be keyword arguments, and arguments and results may
  be tuples (NamedTuples too), lists and dicts, also nested. A gradient for an argument is what this call adds
  to it: in `x + part(x)` the sum's own share is not the part's. Names are those of `model.named_modules()`:
  '' is the model, a shared module has its first. Every one of its calls counts.
- A loss without a graph, or a model without parameters that require a gradient, has no backward pass to
  judge.
- Modules that work in place on what others return, as `nn.ReLU(inplace=True)`, run as ever, also where only
  the argument is used afterwards, and so does a model that catches the error of a part and goes on. Whether 3
  finds a call that writes into its argument is left open.
- Afterwards, also if `compute_loss` raises (the error reaches the caller as it is), the model is as before:
  hooks, modes, `.grad` of the parameters (which may hold anything, NaN too), values of parameters and
  buffers, such as running statistics, whoever has changed them.
- Numbers are judged as they are, complex ones too: a sum of large ones may overflow.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only


class Culprit(NamedTuple):
    """Where it went wrong ("forward", "backward", "outside", "parameter"), and the name of who did it."""

    where: str
    name: str


def first_nan(model: nn.Module, compute_loss: Callable[[], Tensor]) -> Culprit | None:
    """Find what first emits NaN or inf, in the forward pass or in the backward pass.

    Args:
        model: any module.
        compute_loss: calls it and returns the loss.

    Returns:
        The culprit, or None if loss and gradients are finite.
    """
    watch = _Watch()
    modules = [(m, m.training, dict(m._buffers)) for m in model.modules()]
    values = [(t, t.detach().clone()) for t in (*model.parameters(), *model.buffers())]
    hooks = []
    try:
        for name, module in model.named_modules():
            hooks.append(module.register_forward_pre_hook(partial(watch.begin, name), with_kwargs=True))
            hooks.append(module.register_forward_hook(watch.end))
        loss = compute_loss()
        named = {name: p for name, p in model.named_parameters() if p.requires_grad}
        grads: tuple[Tensor | None, ...] = ()
        if named and loss.requires_grad:  # leaves .grad alone, unlike backward()
            grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    finally:
        for hook in hooks:
            hook.remove()
        for module, training, buffers in modules:
            module.training = training
            module._buffers.update(buffers)  # a module may have put another tensor in the place of one
        for t, before in values:
            t.data.copy_(before)
    bad = [name for name, grad in zip(named, grads, strict=bool(grads)) if not _finite(grad)]
    if _finite(loss) and not bad:
        return None
    if watch.forward:
        return Culprit("forward", watch.forward[0])
    if not _finite(loss):
        return Culprit("outside", "")
    for call in watch.backward:
        if call.clean_gradients:
            return Culprit("backward", call.name)
    return Culprit("parameter", bad[0])


class _Call:
    def __init__(self, name: str, module: nn.Module, arguments: Any) -> None:
        self.name, self.module = name, module
        self.clean_arguments = _finite(arguments)
        self.clean_gradients = True


class _Watch:
    """The calls that emit something bad, in the order in which they do."""

    def __init__(self) -> None:
        self.under_way: list[_Call] = []
        self.forward: list[str] = []
        self.backward: list[_Call] = []

    def begin(self, name: str, module: nn.Module, args: Any, kwargs: Any) -> Any:
        call = _Call(name, module, (args, kwargs))
        self.under_way.append(call)
        aliases: dict[int, Tensor] = {}

        def alias(x: Tensor) -> Tensor:
            # a tensor's own hook would see the gradients from all of its uses, and not from this call alone
            if not (x.requires_grad and torch.is_grad_enabled()):
                return x
            if id(x) not in aliases:
                aliases[id(x)] = x.view_as(x)
                aliases[id(x)].register_hook(partial(self.handed_on, call))
            return aliases[id(x)]

        return tree_map_only(Tensor, alias, (args, kwargs))

    def end(self, module: nn.Module, _args: Any, output: Any) -> None:
        call = self.under_way.pop()
        while call.module is not module:  # has raised, and the model has caught it
            call = self.under_way.pop()
        if call.clean_arguments and not _finite(output):
            self.forward.append(call.name)
        for x in tree_leaves(output):
            if isinstance(x, Tensor) and x.requires_grad:
                x.register_hook(partial(self.came_in, call))

    def came_in(self, call: _Call, grad: Tensor) -> None:
        call.clean_gradients = call.clean_gradients and _finite(grad)

    def handed_on(self, call: _Call, grad: Tensor) -> None:
        if not _finite(grad):
            self.backward.append(call)


def _finite(data: Any) -> bool:
    return all(bool(_entries(x).isfinite().all()) for x in tree_leaves(data) if isinstance(x, Tensor))


def _entries(x: Tensor) -> Tensor:
    return x.coalesce().values() if x.is_sparse else x  # a gradient, as of nn.Embedding(…, sparse=True)
