"""Whether two encoded oracle results agree up to rounding.

This runs in the grading parent, without torch. Both sides are plain data (`grader.protocol.oracle_codec`);
the answer's side may be anything at all, so it is read defensively and never unpickled. NumPy is not
imported with this module: nothing should keep the engine from being started.
"""

import base64
import importlib
import math
from collections.abc import Container
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.core.tolerance import resolution

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMPY = {
    "float64": "<f8",
    "float32": "<f4",
    "float16": "<f2",
    "complex128": "<c16",
    "complex64": "<c8",
    "int64": "<i8",
    "int32": "<i4",
    "int16": "<i2",
    "int8": "i1",
    "uint8": "u1",
    "bool": "u1",
}


_WHOLE, _RAISED, _ROUGH = "result", "e", "r"


class _Grant(NamedTuple):
    """What rounding may do: as much as usual at least."""

    ulps: float = 0.0
    scale: float = 0.0

    def resolution(self, dtype: str) -> float:
        return max(resolution(dtype), resolution(dtype, self.ulps))


def prepare() -> None:
    """Import NumPy, while the engine starts and leaves a processor idle."""
    importlib.import_module("numpy")


_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError)


def compared(yours: Any, wanted: Any) -> dict[str, str]:
    """For each case of an oracle the first place where `yours` is not `wanted`; "" where they agree.

    An oracle that is no dict has one case, without a name.
    """
    if wanted[0] != "d":
        return {"": disagreement(yours, wanted) or ""}
    try:
        mine = _named(yours[1], dict(wanted[1])) if yours[0] == "d" else {}
    except _UNREADABLE:
        mine = {}
    return {case: _of_case(case, mine.get(case), result) for case, result in wanted[1]}


def _of_case(case: str, yours: Any, wanted: Any) -> str:
    if wanted[0] == _RAISED:
        return f"{case}: the reference raised {wanted[1]}"
    if yours is None:
        return f"nothing came back for {case}"
    if yours == [_RAISED, NotImplementedError.__name__]:  # as starts have it; torch's own has more to say
        return f"{case}: still to write"
    if isinstance(yours, list) and len(yours) == 2 and yours[0] == _RAISED:
        return f"{case}: your code raised {yours[1]}" if isinstance(yours[1], str) else f"{case} raised"
    return disagreement(yours, wanted, case) or ""


def disagreement(yours: Any, wanted: Any, path: str = _WHOLE) -> str | None:
    """The first place where `yours` is not `wanted`, in words from `path` on; None where they agree."""
    try:
        return _differ(yours, wanted, path, _Grant())
    except _UNREADABLE:
        return f"{path} is not plain data"


def _differ(yours: Any, wanted: Any, path: str, grant: _Grant) -> str | None:
    tag = wanted[0]
    if not isinstance(yours, list) or not yours or yours[0] != tag:
        return f"{path} is of another type"
    if tag == _ROUGH:  # what rounding may do is for the reference's side to say
        return _differ(yours[3], wanted[3], path, _Grant(wanted[1] or 0.0, wanted[2] or 0.0))
    if tag == "t":
        return _tensors_differ(yours, wanted, path, grant)
    if tag == "l":
        return _lists_differ(yours[1], wanted[1], path, grant)
    if tag == "d":
        return _dicts_differ(yours[1], dict(wanted[1]), path, grant)
    if tag == "f":
        return _floats_differ(float(yours[1]), float(wanted[1]), path, grant)
    return None if yours == wanted else f"{path} differs"


def _lists_differ(yours: Any, wanted: list[Any], path: str, grant: _Grant) -> str | None:
    if not isinstance(yours, list) or len(yours) != len(wanted):
        return f"{path} has another length"
    for index, (one, other) in enumerate(zip(yours, wanted, strict=True)):
        if found := _differ(one, other, f"{path}[{index}]", grant):
            return found
    return None


def _dicts_differ(yours: Any, wanted: dict[str, Any], path: str, grant: _Grant) -> str | None:
    mine = _named(yours, wanted)
    if not len(mine) == len(wanted) == len(yours):
        return f"{path} has other keys"
    for key in wanted:
        if found := _differ(mine[key], wanted[key], f"{path}[{key!r}]", grant):
            return found
    return None


def _named(pairs: Any, names: Container[str]) -> dict[str, Any]:
    """The pairs of these names. Whoever chooses keys, numbers above all, chooses how long a dict takes."""
    return {name: value for name, value in pairs if type(name) is str and name in names}


def _floats_differ(yours: float, wanted: float, path: str, grant: _Grant) -> str | None:
    relative = grant.resolution("float32")  # a float often comes from a float32 tensor's `.item()`
    close = math.isclose(yours, wanted, rel_tol=relative, abs_tol=resolution("float32"))
    same = close or (math.isnan(yours) and math.isnan(wanted))
    return None if same else f"{path} differs"


def _tensors_differ(yours: list[Any], wanted: list[Any], path: str, grant: _Grant) -> str | None:
    import numpy as np

    if yours[1] != wanted[1]:
        return f"{path} has another dtype"
    if yours[2] != wanted[2]:
        return f"{path} has another shape"
    dtype = wanted[1]
    mine, right = array(yours), array(wanted)
    if mine.shape != right.shape:
        return f"{path} has another size"
    relative = grant.resolution(dtype)
    if relative == 0.0:
        wrong = mine != right
    else:
        finite = np.isfinite(right)
        scale = max(grant.scale, float(np.abs(right[finite]).max()) if finite.any() else 0.0)
        with np.errstate(invalid="ignore", over="ignore"):
            close = finite & (np.abs(mine - right) <= relative * (np.abs(right) + scale))
        wrong = ~(close | (mine == right) | (np.isnan(mine) & np.isnan(right)))
    count = int(wrong.sum())
    return f"{path}: {count} of {wrong.size} values differ" if count else None


def array(encoded: list[Any]) -> "NDArray[Any]":
    """The values, widened to float64 where they are floating point."""
    import numpy as np

    dtype, raw = encoded[1], base64.b64decode(encoded[3], validate=True)
    if dtype == "bfloat16":
        return (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4").astype("f8")
    if dtype not in _NUMPY:
        return np.frombuffer(raw, "u1")
    array = np.frombuffer(raw, _NUMPY[dtype])
    return array.astype("f8") if dtype.startswith("float") else array
