"""Known names of modules and classes, what they stood for, and one look at many of them.

What is remembered is in tuples, which an answer that finds them cannot change.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from grader.engine import _compat
from grader.engine.integrity import words


class Space(NamedTuple):
    """Names of a module or class and what they stood for; of functions also what they are made of."""

    name: str
    now: Mapping[str, Any]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    functions: tuple[FunctionType, ...]
    made_of: tuple[tuple[object, ...], ...]
    hidden_by_new: frozenset[str]

    def broken(self) -> str | None:
        """The first of its names that stands for something else, or None."""
        for name, value in zip(self.names, self.values, strict=True):
            if self.now.get(name) is not value:
                return f"{self.name}.{name}"
        for function, parts in zip(self.functions, self.made_of, strict=True):
            now = words.parts(function)
            if any(a is not b for a, b in zip(now, parts, strict=True) if b is not None):
                return f"{self.name}.{function.__name__}"
        hiding = sorted(self.hidden_by_new & self.now.keys())
        return f"{self.name}.{hiding[0]}" if hiding else None


class _Watched(NamedTuple):
    """A space, and the words of memory in which it would show that it changes; with methods of both."""

    space: Space
    layout: words.Words
    values: words.Words
    broken: Callable[[], str | None]
    same_layout: Callable[[], bool]
    same_values: Callable[[], bool]

    @classmethod
    def of(cls, space: Space) -> "_Watched":
        if not _compat.KNOWN:
            nothing = words.Words.at(())
            return cls(space, nothing, nothing, space.broken, nothing.hold, nothing.hold)
        layout = words.of_layout(space.now, growing=not space.hidden_by_new)
        values = words.of_values(space.now, space.names), words.of_code(space.functions)
        joined = words.Words.joined(values)
        return cls(space, layout, joined, space.broken, layout.hold, joined.hold)


class Look:
    """Several spaces, looked at in one go: most of the time of a loop over them would be the loop's own.

    The methods that it takes are bound beforehand: an answer can replace what their class has.
    """

    def __init__(self, spaces: Iterable[Space]) -> None:
        self._join([_Watched.of(space) for space in spaces if space.names])

    def broken(self) -> str | None:
        """The first known name that now stands for something else, or None."""
        if not _compat.KNOWN:
            return self.by_names()
        # In this order: where the layout has changed, the values lie elsewhere.
        if self._same_layout() and self._same_values():
            return None
        watched = []
        for each in self._watched:
            same = each.same_layout() and each.same_values()
            name = None if same else each.broken()
            if name is not None:
                return name
            watched.append(each if same else _Watched.of(each.space))
        self._join(watched)
        return None

    def by_names(self) -> str | None:
        """The same without a look at the interpreter's memory: slower, which one look may be."""
        return next(filter(None, (each.broken() for each in self._watched)), None)

    def _join(self, watched: Sequence[_Watched]) -> None:
        self._watched = tuple(watched)
        self._same_layout = words.Words.joined([each.layout for each in watched]).hold
        self._same_values = words.Words.joined([each.values for each in watched]).hold
