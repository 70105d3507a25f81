"""How far rounding alone may move a number, by dtype. Needs no torch: the grading parent uses it too."""

EPS: dict[str, float] = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e5m2": 2.0**-2,
    "complex128": 2.0**-52,
    "complex64": 2.0**-23,
}
"""The spacing of the numbers next to one (`torch.finfo(dtype).eps`)."""

ULPS: dict[str, float] = {"float64": 64.0, "float32": 32.0, "complex128": 64.0, "complex64": 32.0}
"""Rounding errors granted, in units of `EPS` at the size of the numbers at hand.

Enough for another order of summation over a few hundred numbers, too little for a wrong formula.
"""

_NARROW_ULPS = 4.0


def resolution(dtype: str, ulps: float | None = None) -> float:
    """The relative error granted to a number of this dtype: zero for integers and booleans."""
    if dtype not in EPS:
        return 0.0
    return EPS[dtype] * (ULPS.get(dtype, _NARROW_ULPS) if ulps is None else ulps)
