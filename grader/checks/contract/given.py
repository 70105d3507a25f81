"""What one call is given: its arguments and, where a layer is called, how that one is built."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor, nn

from grader.checks._compat import tree_leaves, tree_map_only

Inputs = Callable[[torch.Generator], Mapping[str, Any] | Sequence[Any]]
"""Draws the arguments of some calls: by what they are in words, or a list of them.

Those of one call are `given(…)`, a tuple of positional arguments, or the only argument itself.
"""

_LIVE = (nn.Module, torch.optim.Optimizer, nn.Parameter)
"""Arguments that a call may change, and that refer to each other."""


class Given(NamedTuple):
    """The arguments of one call, and the layer that is called, if it is one."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    layer: Optional["Layer"] = None

    @property
    def is_call(self) -> bool:
        """Whether there is something to call: a layer without arguments is only built."""
        return self.layer is None or bool(self.args or self.kwargs)


class Layer(NamedTuple):
    """The arguments of a layer's constructor, what is loaded into it, and whether it is in training mode."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    state: Mapping[str, Tensor]
    training: bool = True

    def __call__(self, *args: Any, **kwargs: Any) -> Given:
        """One call of the layer."""
        return Given(args, kwargs, self)

    def eval(self) -> "Layer":
        """The layer in evaluation mode."""
        return self._replace(training=False)


def given(*args: Any, **kwargs: Any) -> Given:
    """The arguments of one call, as it would be written: ``given(x, dim=1, correction=1)``.

    Example:
        scaled = Contract(
            "scaled(x, by)",
            reference=lambda x, by=1.0: x * by,
            inputs=lambda gen: {
                "three numbers": given(torch.randn(3, generator=gen), 2.0),
                "a table": given(torch.randn(2, 3, generator=gen), by=0.5),
            },
        )
    """
    return Given(args, kwargs)


def layer(*args: Any, state: Mapping[str, Tensor] | None = None, **kwargs: Any) -> Layer:
    """A layer, built with these arguments, that has loaded `state`: ``layer(4, state={"weight": w})(x)``.

    Parameters and buffers are given by name, so that any initialisation passes. Without a state the layer is
    as it was built, and the reference gets what it started with: an oracle wants the state written out.
    ``layer(…).eval()(x)`` is a call in evaluation mode. A layer that is not called is only built.

    Example:
        def weighed(gen, rows, features):
            weight, x = torch.randn(features, generator=gen), torch.randn(rows, features, generator=gen)
            return layer(features, state={"weight": weight})(x)


        scale = Contract(
            "Scale(features)(x)",
            reference=lambda state, x: x * state["weight"],
            inputs=lambda gen: {"two rows": weighed(gen, 2, 3), "a row": weighed(gen, 1, 4)},
            gradient="x weight",
        )
    """
    return Layer(args, kwargs, dict(state or {}))


def as_given(one: Any) -> Given:
    """What `Inputs` says of one call, as its arguments."""
    if isinstance(one, Given):
        return one
    if isinstance(one, Layer):
        return one()
    return Given(one if type(one) is tuple else (one,), {})


def tensors(held: Given) -> Iterator[Tensor]:
    """All tensors among the arguments, nested ones too, and then those of a layer's state."""
    state = held.layer.state if held.layer else {}
    return (leaf for leaf in tree_leaves((held.args, held.kwargs, state)) if isinstance(leaf, Tensor))


def mapped(change: Callable[[Tensor], Tensor], held: Given) -> Given:
    """The call with every tensor changed, those of a layer's state included; how that one is built stays."""
    changed = mapped_arguments(change, held)
    if held.layer is None:
        return changed
    state = tree_map_only(Tensor, change, held.layer.state)
    return changed._replace(layer=held.layer._replace(state=state))


def mapped_arguments(change: Callable[[Tensor], Tensor], held: Given) -> Given:
    """The call with every tensor among its arguments changed."""
    args, kwargs = tree_map_only(Tensor, change, (held.args, held.kwargs))
    return Given(args, kwargs, held.layer)


def copied(held: Given) -> Given:
    """Copies of all tensors, models and optimizers; an optimizer holds its model's again."""
    live = [leaf for leaf in tree_leaves(held) if isinstance(leaf, _LIVE)]
    memo: dict[int, Any] = {}
    twins = {id(one): twin for one, twin in zip(live, copy.deepcopy(live, memo), strict=True)}
    for p in [p for one in live for p in _parameters(one)]:
        memo[id(p)].grad = None if p.grad is None else p.grad.clone()  # which a deep copy leaves out

    def twin(one: Any) -> Any:
        return twins[id(one)] if id(one) in twins else one.clone()

    changed: Given = tree_map_only((*_LIVE, Tensor), twin, held)
    return changed


def _parameters(live: Any) -> Iterator[nn.Parameter]:
    if isinstance(live, nn.Module):
        yield from live.parameters()
    elif isinstance(live, nn.Parameter):
        yield live
    else:
        yield from (p for group in live.param_groups for p in group["params"])


def widened(held: Given) -> Given:
    """Copies of all tensors, models and optimizers, in double precision where they are floating."""
    held = copied(held)
    for leaf in tree_leaves(held):
        if isinstance(leaf, nn.Module):
            leaf.double()
        elif isinstance(leaf, nn.Parameter) and leaf.is_floating_point():
            leaf.data, leaf.grad = leaf.data.double(), None if leaf.grad is None else leaf.grad.double()
    changed: Given = tree_map_only(Tensor, _wide, held)
    return changed


def _wide(x: Tensor) -> Tensor:
    if isinstance(x, nn.Parameter):
        return x
    x = x.detach()
    return x.to(torch.complex128) if x.is_complex() else x.double() if x.is_floating_point() else x


def dtype_of(held: Given) -> torch.dtype | None:
    """The dtype of the first tensor that is floating or complex, or else of the first such parameter."""
    live = (p for leaf in tree_leaves(held) if isinstance(leaf, _LIVE) for p in _parameters(leaf))
    numbers = (t.dtype for t in chain(tensors(held), live) if t.is_floating_point() or t.is_complex())
    return next(numbers, None)
