"""What is done to a solution so that a check must fail: by the words that the check `refuses`.

Each gets a function of the solution and the arguments of a call, as every stand-in does.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from grader.authoring._compat import tree_leaves, tree_map, tree_map_only
from grader.authoring.stand_in import StandIn


def _tensors(*trees: Any) -> Iterator[Tensor]:
    """All tensors of nested data, and arrays as such."""
    for leaf in tree_leaves(trees):
        if isinstance(leaf, Tensor):
            yield leaf
        elif type(leaf).__module__ == "numpy":
            yield torch.as_tensor(leaf)


def _cast(tree: Any, dtype: torch.dtype, *of: torch.dtype) -> Any:
    """The tensors of one of these dtypes in another one."""
    return tree_map_only(Tensor, lambda x: x.to(dtype) if x.dtype in of else x, tree)


def _changes_arguments(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    result = real(*args, **kwargs)
    for x in _tensors(args, kwargs):
        x.data.copy_(~x if x.dtype is torch.bool else x.detach() + 1)
    return result


def _returns_view(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    result, first = real(*args, **kwargs), next(_tensors(args, kwargs), None)
    return result if first is None else tree_map_only(Tensor, lambda _: first.view_as(first), result)


def _returns_copy(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    return tree_map_only(Tensor, torch.clone, real(*args, **kwargs))


def _on_the_cpu(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    return tree_map_only(Tensor, Tensor.cpu, real(*args, **kwargs))


def _through_the_cpu(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    for x in _tensors(args, kwargs):
        x.cpu()
    return real(*args, **kwargs)


def _loops(real: "partial[Any]", /, *args: Any, **kwargs: Any) -> Any:
    sizes = [max(leaf, 1) if type(leaf) is int else 1 for leaf in tree_leaves((args, kwargs))]
    layer = [vars(own) for own in real.args if isinstance(own, nn.Module)]
    for held in _tensors(args, kwargs, layer):
        sizes += held.shape
    for _ in range(min(sum(sizes), 1000)):
        torch.ones(()) + 1
    return real(*args, **kwargs)


def _raises_nothing(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    try:
        return real(*args, **kwargs)
    except Exception:
        return None


def _raises_another(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    try:
        return real(*args, **kwargs)
    except Exception:
        raise _Another("raised by mistake") from None


class _Another(Exception):
    """An error that no statement names."""


def _raises_without_words(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    try:
        return real(*args, **kwargs)
    except Exception as error:
        error.args = ()
        raise


def _computes_in_float32(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    given, named = _cast((args, kwargs), torch.float32, torch.float64)
    wide = any(x.dtype is torch.float64 for x in _tensors(args, kwargs))
    result = real(*given, **named)
    return _cast(result, torch.float64, torch.float32) if wide else result


def _returns_float32(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    return tree_map_only(Tensor, Tensor.float, real(*args, **kwargs))


def _rounds_in_between(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    def off(x: Tensor) -> Tensor:
        half = x.dtype in (torch.float16, torch.bfloat16)
        return x * (1 + 2 * torch.finfo(x.dtype).eps) if half else x

    return tree_map_only(Tensor, off, real(*args, **kwargs))


def _reads_past_strides(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    def packed(x: Tensor) -> Tensor:
        return x.as_strided(x.shape, torch.empty(x.shape, device="meta").stride(), x.storage_offset())

    given, named = tree_map_only(Tensor, packed, (args, kwargs))
    return real(*given, **named)


def _takes_one_for_none(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    def filled(leaf: Any) -> Any:
        if isinstance(leaf, Tensor) and not leaf.numel():
            return leaf.new_ones([max(size, 1) for size in leaf.shape])
        return 1 if type(leaf) is int and leaf == 0 else leaf

    given, named = tree_map(filled, (args, kwargs))
    return real(*given, **named)


def _detaches(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    return tree_map_only(Tensor, Tensor.detach, real(*args, **kwargs))


def _doubles_gradients(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    def doubled(x: Tensor) -> Tensor:
        return 2 * x - x.detach() if x.requires_grad else x

    return tree_map_only(Tensor, doubled, real(*args, **kwargs))


class _Once(Function):
    """The same numbers, whose gradients are constants."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient.detach()


def _once(x: Tensor) -> Tensor:
    return _Once.apply(x) if x.requires_grad else x  # type: ignore[no-untyped-call]


def _has_no_second_gradients(real: StandIn, /, *args: Any, **kwargs: Any) -> Any:
    given, named = tree_map_only(Tensor, _once, (args, kwargs))
    return real(*given, **named)


KINDS: Mapping[str, StandIn] = {
    "changes its arguments": _changes_arguments,
    "returns a view of its argument": _returns_view,
    "returns a copy": _returns_copy,
    "returns its result on the CPU": _on_the_cpu,
    "copies to the CPU": _through_the_cpu,
    "takes a step for each element": _loops,
    "raises nothing": _raises_nothing,
    "raises another error": _raises_another,
    "raises without a word": _raises_without_words,
    "computes in float32": _computes_in_float32,
    "returns float32": _returns_float32,
    "rounds in between": _rounds_in_between,
    "reads past the strides": _reads_past_strides,
    "takes nothing for one": _takes_one_for_none,
    "detaches its result": _detaches,
    "doubles its gradients": _doubles_gradients,
    "has no second gradients": _has_no_second_gradients,
}
