"""Words of this process's memory, read without touching the objects that they belong to.

Whoever looks at an object through Python counts a reference, and so writes to it. In a forked child the
first write to a page copies it, and known objects lie on many pages. Reading the words that point to them
copies nothing.
"""

import gc
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grader.engine._compat import IN_USE, KEYS

SIZE = 8


class _Memory:
    """All addresses but the first word's, as an array."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"data": (SIZE, True), "shape": (2**44,), "typestr": "<u8", "version": 3}


_memory: npt.NDArray[np.uint64] = np.asarray(_Memory())


class Words(NamedTuple):
    """What stands at some addresses, and whether it still does later. A tuple: that is not to be changed."""

    places: npt.NDArray[np.intp]
    then: bytes

    @classmethod
    def at(cls, addresses: Sequence[int]) -> "Words":
        places = np.array(addresses, dtype=np.intp) // SIZE - 1
        return cls(places, _memory.take(places).tobytes())

    def hold(self) -> bool:
        """Every word is what it was."""
        return _memory.take(self.places).tobytes() == self.then

    @classmethod
    def joined(cls, parts: Sequence["Words"]) -> "Words":
        """The words of all parts, as each of them remembers its own."""
        places = np.concatenate([np.array((), dtype=np.intp), *(part.places for part in parts)])
        return cls(places, b"".join(part.then for part in parts))


def of_layout(names: Mapping[str, Any], *, growing: bool) -> Words:
    """What says where the values of a namespace lie; and unless it is `growing`, how many there are."""
    start = id(_dictionary(names))
    return Words.at([start + word * SIZE for word in ((KEYS,) if growing else (KEYS, IN_USE))])


def of_values(names: Mapping[str, Any], chosen: Iterable[str]) -> Words:
    """What points to the values of `chosen` names, for as long as the layout holds.

    Raises LookupError where this Python keeps names in another way.
    """
    held = _dictionary(names)
    start = _read(id(held) + KEYS * SIZE, 1)[0]
    words = _read(start, (sys.getsizeof(held) - dict.__basicsize__) // SIZE)
    where = {pair: place for place, pair in enumerate(pairwise(words))}
    pairs = {name: (id(name), id(value)) for name, value in held.items()}
    return Words.at([start + (where[pairs[name]] + 1) * SIZE for name in chosen])


def parts(function: FunctionType) -> tuple[object, ...]:
    """What a function does things by and what can be replaced: its code and defaults, or None."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


def of_code(functions: Iterable[FunctionType]) -> Words:
    """What points to the functions' `parts`, but None; LookupError where this Python keeps them elsewhere."""
    return Words.at([address for function in functions for address in _part_addresses(function)])


def _part_addresses(function: FunctionType) -> list[int]:
    words = _read(id(function), FunctionType.__basicsize__ // SIZE)
    wanted = [0 if part is None else id(part) for part in parts(function)]
    starts = (place for place, word in enumerate(words) if word == wanted[0])
    start = next((place for place in starts if words[place : place + len(wanted)] == wanted), None)
    if start is None:
        raise LookupError(function.__qualname__)
    return [id(function) + (start + place) * SIZE for place, word in enumerate(wanted) if word]


def _dictionary(names: Mapping[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = names if isinstance(names, dict) else gc.get_referents(names)[0]
    return held


def _read(address: int, count: int) -> list[int]:
    place = address // SIZE - 1
    words: list[int] = _memory[place : place + count].tolist()
    return words
