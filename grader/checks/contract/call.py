"""One call of the function that an exercise asks for: what it is given, and that in words."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.checks._compat import tree_leaves, tree_map_only

LONGEST = 24
"""Characters of an argument that is written out; of a longer one the parameter's name is told."""

_JOINS = re.compile(r"(with|without|in|over|near|of|at|from|along|by|for|on|under|where|after)\b")


class Given(NamedTuple):
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


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


Inputs = Callable[[torch.Generator], Mapping[str, Any] | Sequence[Any]]
"""Draws the arguments of some calls: by what they are in words, or a list of them.

Those of one call are `given(…)`, a tuple of positional arguments, or the only argument itself.
"""


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
        first = next(iter(tensors(as_given(one))), None)
        about = f"input {number}" if first is None else f"shape {tuple(first.shape)}"
        again = any(case.about == about for case in found)
        found.append(Case(f"{about}, input {number}" if again else about, as_given(one)))
    return found


def as_given(one: Any) -> Given:
    """What `Inputs` says of one call, as its arguments."""
    if isinstance(one, Given):
        return one
    return Given(one if type(one) is tuple else (one,), {})


def tensors(held: Given) -> Iterator[Tensor]:
    """All tensors among the arguments, nested ones too."""
    return (leaf for leaf in tree_leaves(held) if isinstance(leaf, Tensor))


def mapped(change: Callable[[Tensor], Tensor], held: Given) -> Given:
    """The arguments with every tensor changed."""
    changed: Given = tree_map_only(Tensor, change, held)
    return changed


class Signature(NamedTuple):
    """A function as a learner would call it: ``standardize(x, dim)``."""

    name: str
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, call: str) -> "Signature":
        """Raises ValueError where `call` is no name with parameters."""
        found = re.fullmatch(r"(\w+)\(([\w\s,]*)\)", call)
        if not found:
            raise ValueError(f"{call!r} is no call such as 'standardize(x, dim)'")
        return cls(found[1], tuple(name.strip() for name in found[2].split(",") if name.strip()))

    def named(self, held: Given) -> dict[str, Any]:
        """The arguments by the names of their parameters."""
        names = [*self.parameters, *(f"argument{n}" for n in range(len(self.parameters), len(held.args)))]
        return {**dict(zip(names, held.args, strict=False)), **held.kwargs}

    def tensors(self, held: Given) -> dict[str, Tensor]:
        """The tensors among the arguments by their names; those of a list or dict are numbered."""
        found: dict[str, Tensor] = {}
        for name, value in self.named(held).items():
            leaves = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
            many = len(leaves) > 1
            found |= {f"{name}_{n}" if many else name: leaf for n, leaf in enumerate(leaves)}
        return found

    def replaced(self, held: Given, others: Mapping[str, Any]) -> Given:
        """The arguments with others in the place of those of these names."""
        names = self.parameters
        args = tuple(
            others.get(names[n] if n < len(names) else "", value) for n, value in enumerate(held.args)
        )
        return Given(args, {name: others.get(name, value) for name, value in held.kwargs.items()})

    def text(self, held: Given) -> str:
        """The call as it would be written: ``standardize(x, dim=1)``."""
        positional = list(self.named(Given(held.args, {})).items())
        shown = [_shown(name, value) for name, value in positional]
        shown += [f"{name}={_shown(name, value)}" for name, value in held.kwargs.items()]
        return f"{self.name}({', '.join(shown)})"


def _shown(name: str, value: Any) -> str:
    if any(isinstance(leaf, Tensor) or callable(leaf) for leaf in tree_leaves(value)):
        return str(value) if isinstance(value, torch.dtype) else name
    text = repr(value)
    return text if len(text) <= LONGEST and text.isprintable() else name
