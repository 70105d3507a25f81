"""Compare what a call returned with what the reference gives, whatever kind of thing that is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_leaves, tree_map_only
from grader.checks.contract.effects import Effect
from grader.checks.numbers import expect_number
from grader.checks.values import expect_close, expect_equal
from grader.core.tolerance import resolution

Dims = str | Sequence[str]
"""The names of a result's dimensions; one such text for each where several come back."""


def expect_result(
    yours: Any,
    wanted: Any,
    call: Callable[[str], str],
    *,
    dims: Dims = "",
    suspects: Mapping[str, Callable[[], Any]] | None = None,
    ulps: float | None = None,
    scale: float | None = None,
    inputs: Mapping[str, Tensor] | None = None,
    path: str = "",
) -> None:
    """Fail unless `yours` is `wanted`: tensors and floats up to rounding, all else exactly.

    Args:
        yours: what the answer returned.
        wanted: a tensor, a number, or any plain data; also tuples, lists and dicts of them. Where it is a
            tuple, a list of the same serves as well.
        call: what to say of the part of the result at a path, such as "[0]": "split(x)[0] of three rows".
        dims, suspects, ulps, scale, inputs: as for `grader.checks.expect_close`.
    """
    options: dict[str, Any] = {"ulps": ulps, "scale": scale}
    more: dict[str, Any] = {"inputs": inputs, **options}
    if isinstance(wanted, Tensor):
        named = dims if isinstance(dims, str) else ""
        expect_close(yours, wanted, call(path), dims=named, suspects=suspects, inputs=inputs, **options)
    elif type(wanted) is float:
        expect_number(yours, wanted, call(path), rtol=resolution("float32", ulps), suspects=suspects)
    elif isinstance(wanted, (tuple, list, dict)) and _same_kind(yours, wanted, several=not path):
        for place, key in enumerate(wanted if isinstance(wanted, dict) else range(len(wanted))):
            part = dims if isinstance(dims, str) else dims[place]
            made = {told: _item(make, key) for told, make in (suspects or {}).items()}
            there = f"{path}[{key!r}]"
            expect_result(yours[key], wanted[key], call, dims=part, suspects=made, path=there, **more)
    else:
        expect_equal(yours, wanted, call(path), suspects=suspects)


def _same_kind(yours: Any, wanted: Any, *, several: bool) -> bool:
    """Whether the two can be compared item by item; where they cannot, `expect_equal` says why.

    `several` results in a list can be taken apart as those in a tuple can.
    """
    if isinstance(wanted, dict):
        return isinstance(yours, dict) and yours.keys() == wanted.keys()
    kind = list if isinstance(wanted, list) else (tuple, list) if several else tuple
    return isinstance(yours, kind) and len(yours) == len(wanted)


def _item(make: Callable[[], Any], key: Any) -> Callable[[], Any]:
    return lambda: make()[key]


def flat(result: Any) -> Any:
    """All floating tensors of a result in one, those of a dict by name; a single tensor as it is."""
    if isinstance(result, Effect):
        return flat(result.result)
    if isinstance(result, Tensor):
        return result
    if isinstance(result, dict):
        result = [result[name] for name in sorted(result)]
    return torch.cat([t.flatten() for t in tree_leaves(result) if is_floating(t)])


def is_floating(leaf: Any) -> bool:
    """Whether this is a tensor of real floating numbers."""
    return isinstance(leaf, Tensor) and leaf.is_floating_point()


def rounded(tree: Any, like: torch.dtype | None) -> Any:
    """All tensors of double precision rounded to `like`."""
    if like is None or like in (torch.float64, torch.complex128):
        return tree
    complex_like = like if like.is_complex else torch.complex64

    def to(x: Tensor) -> Tensor:
        double = x.dtype in (torch.float64, torch.complex128)
        return _to(x, like, complex_like) if double and not (like.is_complex and not x.is_complex()) else x

    return tree_map_only(Tensor, to, tree)


def _to(x: Tensor, real: torch.dtype, imaginary: torch.dtype) -> Tensor:
    x = x.detach().clone()
    return x.to(imaginary) if x.is_complex() else x.to(real) if x.is_floating_point() else x
