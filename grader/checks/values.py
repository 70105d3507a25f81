"""Compare what an answer returned with what was wanted."""

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grader.checks.failure import CheckFailure, Mismatch
from grader.checks.numbers import near, suspected
from grader.core.tolerance import resolution
from grader.diagnose.causes import Pattern, Suspects, cause_of_plain
from grader.diagnose.describe import describe
from grader.diagnose.diff import explain, is_same

PLAIN = {int, float, bool, str, type(None), torch.dtype}
SMALL = 100
LONGEST = 80
"""Characters of a list that is shown whole."""


def tolerance(
    wanted: Tensor, *, ulps: float | None = None, scale: float | None = None, dtype: torch.dtype | None = None
) -> tuple[float, float]:
    """The relative and absolute error that rounding in `dtype` explains.

    `dtype` is by default that of `wanted`. `scale` is the size of the numbers that were added up:
    by default the largest finite number in `wanted`. Give it where large numbers cancel.

    Example:
        def test_long_sum(answer, gen):
            x = torch.randn(10_000, generator=gen)
            exact = float(x.double().sum())
            _, atol = tolerance(x.sum(), scale=float(x.abs().sum()))
            yours = float(answer.total(x))
            expect_that(abs(yours - exact) <= atol, "total(x) is off", yours=yours, wanted=exact)
    """
    relative = resolution(str(dtype or wanted.dtype).removeprefix("torch."), ulps)
    if relative == 0.0:
        return 0.0, 0.0
    if scale is None:
        sizes = wanted.detach().abs()
        scale = float(sizes.max()) if sizes.numel() else 0.0
        if not math.isfinite(scale):
            sizes = sizes[torch.isfinite(sizes)]
            scale = float(sizes.max()) if sizes.numel() else 0.0
    return relative, relative * scale


def expect_close(
    yours: object,
    wanted: Tensor,
    call: str,
    *,
    dims: str = "",
    inputs: Mapping[str, Tensor] | None = None,
    ulps: float | None = None,
    scale: float | None = None,
    suspects: Suspects | None = None,
    before: Tensor | None = None,
) -> None:
    """Fail unless `yours` has the shape, dtype and device of `wanted`, and its values up to rounding.

    Args:
        yours: what the answer returned, whatever it is.
        wanted: the tensor it should be, in the dtype it should have.
        call: the call as a learner would write it: ``"softmax(x, dim=1)"``.
        dims: the names of the dimensions of `wanted`: ``"batch heads time"``.
        inputs: the call's inputs by name, to recognise one that came back unchanged.
        ulps: rounding errors to grant, where the default of `grader.core.tolerance.ULPS` does not fit.
        scale: the size of the numbers that were added up, by default of the largest one in `wanted`; give it
            where large numbers cancel.
        suspects: mistakes that people make here, in words, and how to make the tensor that each gives:
            ``{"the mask is applied in every call": lambda: reference(x, causal=True)}``. They are made only
            for a wrong answer, and told where that one is what they give.
        before: for a weight, a buffer or a `.grad`, what it was before the call: what did not change,
            or changed the wrong way, is told.

    Example:
        def test_values(answer, gen):
            x = torch.randn(4, 3, generator=gen)
            wanted = x.softmax(dim=1)
            mistakes = {"the sum is over the batch": lambda: x.softmax(dim=0)}
            expect_close(answer.softmax(x), wanted, "softmax(x)", dims="batch classes", suspects=mistakes)
    """
    if is_same(yours, wanted):  # which needs no tolerance
        return
    rtol, atol = tolerance(wanted, ulps=ulps, scale=scale)
    difference = explain(
        yours,
        wanted,
        call=call,
        dims=dims.split(),
        rtol=rtol,
        atol=atol,
        inputs=inputs or {},
        suspects=suspects,
        before=before,
    )
    if difference is not None:
        raise CheckFailure(difference)


def expect_equal(
    yours: object, wanted: Any, call: str, *, dims: str = "", suspects: Suspects | None = None
) -> None:
    """Fail unless `yours` is `wanted` exactly: type, and for tensors shape, dtype, device and every bit.

    Containers are compared item by item. `True` is not `1`, and `1` is not `1.0`. For `suspects` see
    `expect_close`; for other values than tensors they make such values.

    Example:
        def test_sizes(answer):
            expect_equal(answer.sizes(torch.zeros(2, 3)), [2, 3], "sizes(torch.zeros(2, 3))")
    """
    try:
        _expect_equal(yours, wanted, call, "", dims, suspects)
    except CheckFailure as failure:
        is_one = isinstance(wanted, (dict, list, tuple))
        if is_one and (told := suspected(suspects, lambda made: _holds(yours, made))):
            raise CheckFailure(replace(failure.feedback, likely=told, kind="values")) from None
        raise


def _holds(yours: object, guess: object) -> bool:
    """Whether a container is this one, item by item."""
    try:
        _expect_equal(yours, guess, "", "")
    except CheckFailure:
        return False
    return True


def _expect_equal(
    yours: Any, wanted: Any, call: str, path: str, dims: str = "", suspects: Suspects | None = None
) -> None:
    """`expect_equal` for what lies at `path`, such as "['rows'][0]", in what `call` returned."""
    if isinstance(wanted, Tensor):
        if is_same(yours, wanted):
            return
        difference = explain(
            yours,
            wanted,
            call=_at(call, path),
            dims=dims.split(),
            rtol=0.0,
            atol=0.0,
            suspects=suspects,
        )
        if difference is not None:
            raise CheckFailure(difference)
    elif isinstance(wanted, dict):
        _expect_same_kind(yours, wanted, call, path, dict)
        _expect_keys(yours, wanted, call, path)
        for key, value in wanted.items():
            _expect_equal(yours[key], value, call, f"{path}[{key!r}]")
    elif isinstance(wanted, (list, tuple)):
        _expect_same_kind(yours, wanted, call, path, tuple if isinstance(wanted, tuple) else list)
        _expect_length(yours, wanted, call, path)
        try:
            for index, value in enumerate(wanted):
                _expect_equal(yours[index], value, call, f"{path}[{index}]")
        except CheckFailure:
            if (mine := _whole(yours)) and (right := _whole(wanted)) and mine != right:
                raise _wrong(call, path, mine, right, cause_of_plain(yours, wanted)) from None
            raise
    elif type(yours) is not type(wanted) or not _same(yours, wanted):
        told = suspected(suspects, lambda made: _is_equal(yours, made))
        told = told or _multiple(yours, wanted) or cause_of_plain(yours, wanted)
        raise _wrong(call, path, describe(yours), describe(wanted), told)


def _multiple(yours: Any, wanted: Any) -> Pattern | None:
    """How many times as large a count is as it should be; None for small ones, where that may be chance."""
    if type(yours) is not int or type(wanted) is not int or min(yours, wanted) < SMALL:
        return None
    large, small = max(yours, wanted), min(yours, wanted)
    times = f"{large // small} times" if large // small > 2 else "twice"
    if large % small:
        return None
    return Pattern(f"{times} what is wanted" if yours == large else f"what is wanted is {times} as much")


def _is_equal(yours: object, guess: object) -> bool:
    if isinstance(yours, float) and isinstance(guess, float):
        return near(yours, guess, 1e-9, 0.0)
    return type(yours) is type(guess) and _same(yours, guess)


def _wrong(call: str, path: str, yours: str, wanted: str, cause: str = "") -> CheckFailure:
    where = _at(call, path)
    what = where.removeprefix("the ") if where.startswith("the ") else f"result from {where}"
    if where.startswith(("whether ", "if ", "how ")):
        what = f"answer to {where}"
    failure = Mismatch(f"wrong {what}", yours=yours, wanted=wanted, likely=str(cause))
    is_pattern = isinstance(cause, Pattern)
    return CheckFailure(replace(failure.feedback, kind="pattern")) if is_pattern else failure


def _at(call: str, path: str) -> str:
    """Which item of what a call returned: told apart from the call where that is no expression."""
    if not path:
        return call
    try:
        ast.parse(call.replace("…", "..."), mode="eval")
    except (SyntaxError, ValueError):
        return f"{call.removesuffix(',')}, at {path}"
    return call + path


def _whole(values: Any) -> str:
    """A list or tuple of a few plain numbers or names, as it would be written; "" for any other."""
    if type(values) not in (list, tuple, torch.Size) or not {type(v) for v in values} <= PLAIN:
        return ""
    text = repr(tuple(values) if isinstance(values, tuple) else values)
    return text if len(text) <= LONGEST and text.isprintable() else ""


def expect_that(condition: bool, what: str, **facts: object) -> None:
    """Fail with the sentence `what` and the given facts, one line each, unless `condition` holds.

    Example:
        def test_same_tensor(answer):
            x = torch.ones(3)
            yours = answer.scale_(x)
            expect_that(yours is x, "scale_(x) does not return x", yours=yours, wanted="the same tensor")
    """
    if condition is not True:
        raise CheckFailure(what, **{name: _fact(value) for name, value in facts.items()})


def _fact(value: object) -> str:
    return value if isinstance(value, str) else describe(value)


def _same(yours: object, wanted: object) -> bool:
    return yours == wanted or (yours != yours and wanted != wanted)


def _expect_same_kind(yours: object, wanted: object, call: str, path: str, kind: type) -> None:
    # A torch.Size or a NamedTuple is as good as a tuple; a list is not.
    if not isinstance(yours, kind):
        why = cause_of_plain(yours, wanted)
        raise CheckFailure(
            f"wrong type from {_at(call, path)}", yours=describe(yours), wanted=describe(wanted), likely=why
        )


def _expect_keys(yours: Any, wanted: dict[Any, Any], call: str, path: str) -> None:
    mine, right = (sorted(keys, key=str) for keys in (yours, wanted))
    if list(map(str, mine)) != list(map(str, right)):
        differing = {"lacks": [key for key in right if key not in mine]}
        differing |= {"extra": [key for key in mine if key not in right]}
        told = {name: ", ".join(map(repr, keys)) for name, keys in differing.items() if keys}
        raise CheckFailure(f"wrong keys in {_at(call, path)}", yours=str(mine), wanted=str(right), **told)


def _expect_length(yours: Any, wanted: Sequence[Any], call: str, path: str) -> None:
    if len(yours) == len(wanted):
        return
    if isinstance(wanted, torch.Size) and (mine := _whole(yours)):
        raise _wrong(call, path, mine, _whole(wanted))
    parting = _parting(yours, wanted)
    wrong = Mismatch if "differ" in parting else CheckFailure
    told = f"wrong length of {_at(call, path)}"
    raise wrong(told, yours=_items(yours), wanted=_items(wanted), **parting)


def _items(values: Sequence[Any]) -> str:
    return "1 item" if len(values) == 1 else f"{len(values)} items"


def _parting(yours: Any, wanted: Sequence[Any]) -> dict[str, str]:
    """The first item at which two sequences differ, of which one is longer."""
    shorter = min(len(yours), len(wanted))
    for index in range(shorter):
        try:
            expect_equal(yours[index], wanted[index], "")
        except CheckFailure:
            mine, right = describe(yours[index]), describe(wanted[index])
            told = f"{mine}, wanted {right}" if mine != right else f"another {right}"
            return {"differ": f"from item {index} on: {told}"}
    rest = wanted[shorter:] or yours[shorter:]
    more = f" and {len(rest) - 1} more" if len(rest) > 1 else ""
    fact = "lacks" if len(wanted) > shorter else "extra"
    return {fact: f"item {shorter}: {describe(rest[0])}{more}"}
