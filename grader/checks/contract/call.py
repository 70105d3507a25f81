"""One call of what an exercise asks for, in words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.checks._compat import tree_leaves
from grader.checks.contract.given import Given, Layer, as_given, tensors
from grader.checks.failure import Misuse

LONGEST = 24
"""Characters of an argument that is written out; of a longer one the parameter's name is told."""

_JOINS = re.compile(r"(with|without|in|over|near|of|at|from|along|by|for|on|under|where|after)\b")


@dataclass(frozen=True)
class Case:
    """The arguments of one call, and in words what they are: "three rows", "with correction and eps"."""

    about: str
    given: Given

    def where(self) -> str:
        """What stands behind the call in feedback: " of three rows"."""
        if not self.about:
            return ""
        return f" {self.about}" if _JOINS.match(self.about) else f" of {self.about}"


def cases(drawn: Mapping[str, Any] | Sequence[Any]) -> list[Case]:
    """The calls that `Inputs` drew; those of a list are told by the shape of their first tensor."""
    if isinstance(drawn, Mapping):
        return [Case(about, as_given(one)) for about, one in drawn.items()]
    found: list[Case] = []
    for number, one in enumerate(drawn, start=1):
        held = as_given(one)
        if not held.is_call:
            found.append(Case("", held))
            continue
        first = next(iter(tensors(held)), None)
        about = f"input {number}" if first is None else f"shape {tuple(first.shape)}"
        again = any(case.about == about for case in found)
        found.append(Case(f"{about}, input {number}" if again else about, held))
    return found


class Signature(NamedTuple):
    """What a learner would call: ``standardize(x, dim)``, or a layer, ``Scale(features)(x)``."""

    name: str
    parameters: tuple[str, ...]
    options: tuple[str, ...] | None = None
    """A layer's: the positional parameters of its constructor."""

    @classmethod
    def of(cls, call: str) -> "Signature":
        """Raises Misuse where `call` is no name with parameters."""
        found = re.fullmatch(r"(\w+)(\([\w\s,]*\))?\(([\w\s,]*)\)", call)
        if not found:
            raise Misuse(f"{call!r} is no call such as 'standardize(x, dim)' or 'Scale(features)(x)'")
        return cls(found[1], _names(found[3]), _names(found[2][1:-1]) if found[2] else None)

    def named(self, held: Given) -> dict[str, Any]:
        """The arguments by the names of their parameters, after the tensors of a layer's state by theirs."""
        state = held.layer.state if held.layer else {}
        return {**state, **_by_name(self.parameters, held.args), **held.kwargs}

    def of_layer(self, built: Layer) -> dict[str, Any]:
        """The arguments of a layer's constructor by the names of their parameters."""
        return {**_by_name(self.options or (), built.args), **built.kwargs}

    def tensors(self, held: Given) -> dict[str, Tensor]:
        """The tensors among the arguments by their names; those of a list or dict are numbered."""
        found: dict[str, Tensor] = {}
        for name, value in self.named(held._replace(layer=None)).items():
            leaves = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
            many = len(leaves) > 1
            found |= {f"{name}_{n}" if many else name: leaf for n, leaf in enumerate(leaves)}
        return found

    def leaves(self, held: Given, of: str) -> dict[str, Tensor]:
        """The floating tensors named in `of`; "state" stands for all of a layer's."""
        named, state = self.named(held), held.layer.state if held.layer else {}
        names = [name for part in of.split() for name in (state if part == "state" else [part])]
        found = {name: named.get(name) for name in names}
        return {n: t for n, t in found.items() if isinstance(t, Tensor) and t.is_floating_point()}

    def replaced(self, held: Given, others: Mapping[str, Any]) -> Given:
        """The call with others in the place of what has these names."""
        names = self.parameters
        args = tuple(
            others.get(names[n] if n < len(names) else "", value) for n, value in enumerate(held.args)
        )
        kwargs = {name: others.get(name, value) for name, value in held.kwargs.items()}
        if held.layer is None:
            return Given(args, kwargs)
        state = {name: others.get(name, t) for name, t in held.layer.state.items()}
        return Given(args, kwargs, held.layer._replace(state=state))

    def text(self, held: Given) -> str:
        """The call as it would be written: ``standardize(x, dim=1)``, ``Scale(3).eval()(x)``."""
        call = f"({', '.join(_written(self.parameters, held.args, held.kwargs))})"
        if held.layer is None:
            return self.name + call
        options = ", ".join(_written(self.options or (), held.layer.args, held.layer.kwargs))
        mode = "" if held.layer.training else ".eval()"
        return f"{self.name}({options}){mode}{call if held.is_call else ''}"


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _by_name(names: tuple[str, ...], args: tuple[Any, ...]) -> dict[str, Any]:
    more = [f"argument{n}" for n in range(len(names), len(args))]
    return dict(zip([*names, *more], args, strict=False))


def _written(names: tuple[str, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    shown = [_shown(name, value) for name, value in _by_name(names, args).items()]
    return shown + [f"{name}={_shown(name, value)}" for name, value in kwargs.items()]


def _shown(name: str, value: Any) -> str:
    if any(isinstance(leaf, Tensor) or callable(leaf) for leaf in tree_leaves(value)):
        return str(value) if isinstance(value, torch.dtype) else name
    text = repr(value)
    return text if len(text) <= LONGEST and text.isprintable() else name
