"""Small tensors without torch: their shape, and their numbers where those are known."""

import math
from dataclasses import dataclass
from typing import Any

Number = bool | int | float | str
"""A number; or a word, as of what is not finite, which is drawn like one."""

_ODD = ("nan", "inf", "-inf")
_MOST = 64
"""Numbers of a tensor that is sent."""


@dataclass(frozen=True)
class Array:
    """`numbers` are in row-major order, and None where only the shape is known."""

    shape: tuple[int, ...]
    numbers: tuple[Number, ...] | None = None

    @classmethod
    def of(cls, nested: object) -> "Array":
        """Of a number, or of lists of lists of them; raises ValueError where they are no tensor."""
        if isinstance(nested, cls) and not nested.shape:
            return nested
        if isinstance(nested, (bool, int, float, str)):
            return cls((), (nested,))
        if not isinstance(nested, (list, tuple)):
            raise ValueError("no numbers")
        rows = [cls.of(row) for row in nested]
        inner = {row.shape for row in rows} or {()}
        if len(inner) > 1:
            raise ValueError("ragged")
        numbers = tuple(number for row in rows for number in row.numbers or ())
        return cls((len(rows), *inner.pop()), numbers)

    @classmethod
    def of_json(cls, data: Any) -> "Array":
        """Of its fields, from whoever sent them: raises ValueError where they are none of a small tensor."""
        shape, numbers = data["shape"], data["numbers"]
        if not all(type(size) is int and 0 <= size <= _MOST for size in shape) or len(shape) > _MOST:
            raise ValueError("no shape")
        if len(numbers) != math.prod(shape) or len(numbers) > _MOST:
            raise ValueError("not as many numbers as the shape says")
        if not all(n in _ODD if isinstance(n, str) else _is_number(n) for n in numbers):
            raise ValueError("no numbers")
        return cls(tuple(shape), tuple(numbers))


Named = tuple[tuple[str, Array], ...]
"""Arrays by name, "" where they have none."""


def _is_number(value: object) -> bool:
    return type(value) is float or (isinstance(value, int) and abs(value) < 1 << 64)


def written(number: Number) -> str:
    """As it stands in a cell."""
    return repr(number).removesuffix(".0") if isinstance(number, float) else str(number)
