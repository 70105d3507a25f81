"""An object of ours that an answer can find, up the stack say, and whether it is still what it was."""

from operator import is_
from typing import NamedTuple

_STATE = frozenset({bool, dict, float, int, list, type(None)})
"""What comes and goes while an answer is judged, and could as well be changed where it is."""

_NOTHING = object()


class Kept(NamedTuple):
    """What an object's attributes stood for. A tuple: nothing in it can be replaced."""

    instance: object
    kind: type
    names: tuple[str, ...]
    values: tuple[object, ...]

    @classmethod
    def of(cls, instance: object) -> "Kept":
        return cls(instance, type(instance), tuple(vars(instance)), tuple(vars(instance).values()))

    def broken(self) -> str | None:
        """The first attribute that stands for something else or hides one of the class, or None."""
        now, kind = vars(self.instance), type(self.instance)
        same = kind is self.kind and len(now) == len(self.names)
        if same and all(map(is_, now, self.names)) and all(map(is_, now.values(), self.values)):
            return None
        whole = f"{self.kind.__module__}.{self.kind.__qualname__}"
        if kind is not self.kind:
            return whole
        for name, value in zip(self.names, self.values, strict=True):
            other = now.get(name, _NOTHING)
            if other is not value and not {type(other), type(value)} <= _STATE:
                return f"{whole}.{name}"
        hiding = (name for name in now if name not in self.names and hasattr(kind, name))
        return next((f"{whole}.{name}" for name in hiding), None)
