"""Clauses about calls made of others: in other dtypes and layouts in memory, and without numbers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.checks.contract.call import Case
from grader.checks.contract.clause import Clause
from grader.checks.contract.given import Given, Inputs, mapped, mapped_arguments, tensors
from grader.checks.contract.result import is_floating
from grader.checks.contract.trial import Function, Trial
from grader.checks.values import expect_close, expect_equal

FINER = 1 + 2.0**-30
"""Gives numbers of float64 digits that float32 lacks: what is only copied would survive it otherwise."""


def dtypes(
    *kinds: torch.dtype,
    of: str = "",
    inputs: Inputs | None = None,
    ulps: float | None = None,
    name: str = "dtype_is_kept",
    title: str = "Every dtype comes out as it went in.",
) -> Clause:
    """The first call again in other dtypes: its floating tensors, or all where none is floating.

    A layer is cast along with its state; `of` names the tensors to cast, where others are to stay ("x").

    Example:
        exponential_dtypes = Contract(
            "exp(x)",
            reference=torch.exp,
            inputs=lambda gen: [torch.randn(3, generator=gen)],
            fine=[dtypes(torch.float64, torch.bfloat16)],
        )
    """

    def run(trial: Trial) -> None:
        for kind in kinds:
            case = trial.cases(inputs)[0]
            about = f"{case.about}, {f'{of} ' if of else ''}in {kind}"
            trial.expect(Case(about, _in(trial, kind, case.given, of)), ulps=ulps)

    exact = ("computes in float32",) if torch.float64 in kinds else ()
    return Clause(name, title, run, refuses=("returns float32", *exact))


def _in(trial: Trial, kind: torch.dtype, given: Given, of: str) -> Given:
    """The call with its floating tensors in this dtype, or what `of` names, or all where none is floating."""
    if of:
        signature = trial.contract.signature
        others = {name: _cast(kind, t) for name, t in signature.leaves(given, of).items()}
        return signature.replaced(given, others)
    cast = _narrowed if any(map(is_floating, tensors(given))) else _cast
    return mapped(partial(cast, kind), given)


def _narrowed(kind: torch.dtype, x: Tensor) -> Tensor:
    return _cast(kind, x) if x.is_floating_point() else x


def _cast(dtype: torch.dtype, x: Tensor) -> Tensor:
    if dtype is torch.bool:
        return x > x.double().mean()
    if not dtype.is_floating_point and not dtype.is_complex and x.is_floating_point():
        x = 8 * x if dtype.is_signed else (8 * x).abs()
    return _finer(x.double()) if dtype is torch.float64 else x.to(dtype)


def _finer(x: Tensor) -> Tensor:
    """With digits that float32 lacks, but for whole numbers: they may be labels, or a mask."""
    return torch.where(x == x.round(), x, x * FINER)


def half_precision(
    *kinds: torch.dtype,
    of: str = "",
    inputs: Inputs | None = None,
    suspects: Mapping[str, Function] | None = None,
    scale: float = 1e-3,
    name: str = "half_precision",
    title: str = "Half precision is computed in float32 and rounded once, at the end.",
) -> Clause:
    """In float16 and bfloat16 (or `kinds`) each number is one of the two nearest to the exact result.

    `scale` is the size of numbers from which on that is demanded: what is much smaller may be 0. `suspects`
    get what is given as it is, in half precision; `of` names what is, where all else is to stay ("x").

    Example:
        lengths = Contract(
            "length(x)",
            reference=lambda x: x.square().sum().sqrt(),
            inputs=lambda gen: [100 * torch.randn(20, generator=gen)],
            fine=[half_precision()],
        )
    """

    def run(trial: Trial) -> None:
        trial = trial.leaving("")
        for kind in kinds or (torch.float16, torch.bfloat16):
            # Not against a rounded result: near a tie, that is a whole step off for a right answer.
            half_a_step = 0.6 * torch.finfo(kind).eps / torch.finfo(torch.float64).eps
            for case in trial.cases(inputs):
                narrow = _in(trial, kind, case.given, of)
                text = trial.text(Case(f"{case.about}, {f'{of} ' if of else ''}in {kind}", narrow))("")
                wanted = trial.wanted(mapped(_double, narrow))
                yours = trial.run(narrow)
                expect_equal(getattr(yours, "dtype", None), kind, f"the dtype of {text}")
                told = {words: _narrow(trial, make, narrow) for words, make in (suspects or {}).items()}
                expect_close(yours.double(), wanted, text, ulps=half_a_step, scale=scale, suspects=told)

    return Clause(name, title, run, refuses=("returns float32", "rounds in between"))


def _narrow(trial: Trial, make: Function, narrow: Given) -> Callable[[], Tensor]:
    return lambda: trial.contract.referred(make, narrow).double()


def _double(x: Tensor) -> Tensor:
    return x.double() if x.is_floating_point() else x


def strides(
    *,
    inputs: Inputs | None = None,
    name: str = "strides",
    title: str = "Transposed and expanded inputs, and parts of larger tensors, are treated like any others.",
) -> Clause:
    """Each call again with its tensors transposed in memory, part of larger ones, and expanded.

    Example:
        first_columns = Contract(
            "first_column(x)",
            reference=lambda x: x[:, 0],
            inputs=lambda gen: [torch.randn(4, 3, generator=gen)],
            fine=[strides()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            for how, lay in _LAYOUTS.items():
                laid = Case(f"{case.about}, {how}", mapped_arguments(lay, case.given))
                flat_read = {"the numbers are read in the order of memory, past the strides": _past_strides}
                packed = {told: _of(trial, change, laid) for told, change in flat_read.items()}
                wanted = trial.wanted(laid.given)
                trial.compare(trial.run(laid.given), wanted, laid, suspects=packed)

    return Clause(name, title, run, refuses=("reads past the strides",))


def _of(trial: Trial, change: Callable[[Tensor], Tensor], case: Case) -> Callable[[], Any]:
    return lambda: trial.wanted(mapped_arguments(change, case.given))


def _transposed(x: Tensor) -> Tensor:
    return x.transpose(0, -1).contiguous().transpose(0, -1) if x.ndim > 1 else x


def _part(x: Tensor) -> Tensor:
    """Every second number of each dimension of a larger tensor, from the second on."""
    larger = x.new_ones([2 * size + 1 for size in x.shape])
    part = larger[tuple(slice(1, 2 * size, 2) for size in x.shape)]
    return part.copy_(x)


def _expanded(x: Tensor) -> Tensor:
    return x[:1].expand(x.shape) if x.ndim and len(x) else x


_LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "transposed in memory": _transposed,
    "a part of a larger tensor": _part,
    "expanded from the first": _expanded,
}


def _past_strides(x: Tensor) -> Tensor:
    packed = torch.empty(x.shape).stride()
    return x.as_strided(x.shape, packed, x.storage_offset()).clone()


def empties(
    *,
    inputs: Inputs | None = None,
    name: str = "empty",
    title: str = "An empty batch gives an empty result.",
) -> Clause:
    """Calls without numbers; by default the first one with nothing along the first dimension.

    Example:
        mean_rows = Contract(
            "mean_row(x)",
            reference=lambda x: x.sum(dim=0) / max(len(x), 1),
            inputs=lambda gen: [torch.randn(4, 3, generator=gen)],
            fine=[empties(title="The mean of no rows is 0.")],
        )
    """

    def run(trial: Trial) -> None:
        if inputs is not None:
            found = trial.cases(inputs)
        else:
            case = trial.cases()[0]
            size = next(tensors(case.given)).shape[0]
            cut = mapped_arguments(lambda x: x[:0] if x.ndim and len(x) == size else x, case.given)
            found = [Case("an empty batch", cut)]
        for case in found:
            trial.expect(case)

    return Clause(name, title, run, refuses=("takes nothing for one",))
