"""What a call leaves behind: parameters after a step, buffers, gradients, arguments changed in place."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn

from grader.checks._compat import tree_leaves
from grader.checks.failure import CheckFailure, Misuse
from grader.checks.registered import tensors_of
from grader.checks.values import expect_close, expect_that

GRADIENT = ".grad"


class Effect(NamedTuple):
    """What a call returned, and what it left behind, by name."""

    result: Any
    after: dict[str, Tensor | None]


def effects(named: Mapping[str, Any], after: str) -> dict[str, Tensor | None]:
    """Copies of what `after` names among these arguments: "model", its gradients, "model.grad", or a tensor.

    Raises Misuse where there is nothing of that name.
    """
    parts = after.split()
    found: dict[str, Tensor | None] = {}
    for part in parts:
        whole = part in named
        name = part if whole else part.removesuffix(GRADIENT)
        if name not in named:
            raise Misuse(f"after={after!r}: there is no {name} to look at")
        for own, t in _tensors(name, named[name]):
            held = t if whole else t.grad
            label = own if whole else f"the gradient of {own}"
            found[label] = None if held is None else held.detach().clone()
    return found


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, nn.Module):
        yield from tensors_of(value).items()
        return
    leaves = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
    for number, leaf in enumerate(leaves):
        yield f"{name}[{number}]" if len(leaves) > 1 else name, leaf


def expect_effect(
    yours: Tensor | None,
    wanted: Tensor | None,
    what: str,
    *,
    before: Tensor | None,
    suspects: Mapping[str, Callable[[], Any]],
    **options: Any,
) -> None:
    """Fail unless what a call left behind is what is wanted, in the dtype that it had before."""
    if wanted is None:
        expect_that(yours is None, f"{what} is there: it should be None", yours=yours)
        return
    if yours is None:
        raise CheckFailure(f"{what} is None", likely="no backward came here, or it was cleared")
    kind = yours.dtype if before is None else before.dtype
    made = {told: _in(make, kind) for told, make in suspects.items()}
    expect_close(yours, wanted.to(kind), what, before=before, suspects=made, **options)


def _in(make: Callable[[], Any], kind: Any) -> Callable[[], Any]:
    return lambda: make().to(kind)
