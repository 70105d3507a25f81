"""Clauses about what comes out: values, gradients, other dtypes, layouts in memory, nothing at all."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.checks.contract.call import Case, Inputs, mapped, tensors
from grader.checks.contract.clause import Clause
from grader.checks.contract.result import flat, is_floating, widened
from grader.checks.contract.trial import Function, Trial
from grader.checks.gradients import expect_gradients
from grader.checks.values import expect_close, expect_equal


def values(
    *,
    inputs: Inputs | None = None,
    suspects: Mapping[str, Function] | None = None,
    ulps: float | None = None,
    scale: float | None = None,
    name: str = "values",
    title: str = "The values are right for ordinary inputs.",
) -> Clause:
    """The results are the reference's, up to rounding; `suspects`, `ulps` and `scale` as in the contract.

    Example:
        def large(gen):
            return [1e30 * torch.rand(3, generator=gen)]


        total = Contract(
            "total(x)",
            reference=torch.sum,
            inputs=lambda gen: [torch.randn(3, generator=gen), torch.randn(2, 5, generator=gen)],
            fine=[values(inputs=large, name="large", title="Large numbers are added up as well.")],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            trial.expect(case, suspects, ulps=ulps, scale=scale)

    return Clause(name, title, run)


def gradients(
    of: str,
    *,
    inputs: Inputs | None = None,
    ulps: float | None = None,
    scale: float | None = None,
    second_order: bool = False,
    name: str = "gradients",
    title: str = "",
) -> Clause:
    """The gradients for the parameters named in `of` ("x weight") are the reference's in float64.

    Example:
        scores = Contract(
            "score(x, w)",
            reference=torch.mv,
            inputs=lambda gen: [given(torch.randn(4, 3, generator=gen), torch.randn(3, generator=gen))],
            job=[gradients("x w")],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            named = trial.contract.signature.named(case.given)
            leaves = {part: named[part] for part in of.split() if is_floating(named.get(part))}
            if leaves:
                _expect_gradients(trial, case, leaves, ulps, scale, second_order)

    return Clause(name, title or f"Gradients flow back to {_listed(of)}, and are right.", run)


def _listed(of: str) -> str:
    *others, last = of.split()
    return f"{', '.join(others)} and {last}" if others else last


def _expect_gradients(
    trial: Trial,
    case: Case,
    leaves: Mapping[str, Tensor],
    ulps: float | None,
    scale: float | None,
    second_order: bool,
) -> None:
    contract, exact = trial.contract, widened(case.given)
    reference = contract.reference
    assert reference is not None

    def yours(*those: Tensor) -> Any:
        given = contract.signature.replaced(case.given, dict(zip(leaves, those, strict=True)))
        return flat(trial.run(given))

    def wanted(*those: Tensor) -> Any:
        args, kwargs = contract.signature.replaced(exact, dict(zip(leaves, those, strict=True)))
        return flat(reference(*args, **kwargs))

    expect_gradients(
        yours,
        list(leaves.values()),
        wanted,
        gen=trial.gen,
        call=trial.text(case)(""),
        names=" ".join(leaves),
        second_order=second_order,
        ulps=contract.ulps if ulps is None else ulps,
        scale=contract.scale if scale is None else scale,
    )


def dtypes(
    *kinds: torch.dtype,
    inputs: Inputs | None = None,
    ulps: float | None = None,
    name: str = "dtype_is_kept",
    title: str = "Every dtype comes out as it went in.",
) -> Clause:
    """The first call again in other dtypes: its floating tensors, or all where none is floating.

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
            cast = _narrowed if any(map(is_floating, tensors(case.given))) else _cast
            trial.expect(Case(f"{case.about}, in {kind}", mapped(partial(cast, kind), case.given)), ulps=ulps)

    return Clause(name, title, run)


def _narrowed(kind: torch.dtype, x: Tensor) -> Tensor:
    return _cast(kind, x) if x.is_floating_point() else x


def _cast(dtype: torch.dtype, x: Tensor) -> Tensor:
    if dtype is torch.bool:
        return x > x.double().mean()
    if not dtype.is_floating_point and not dtype.is_complex and x.is_floating_point():
        x = 8 * x if dtype.is_signed else (8 * x).abs()
    return x.to(dtype)


def half_precision(
    *kinds: torch.dtype,
    inputs: Inputs | None = None,
    scale: float = 1e-3,
    name: str = "half_precision",
    title: str = "Half precision is computed in float32 and rounded once, at the end.",
) -> Clause:
    """In float16 and bfloat16 (or `kinds`) each number is one of the two nearest to the exact result.

    `scale` is the size of numbers from which on that is demanded: what is much smaller may be 0.

    Example:
        lengths = Contract(
            "length(x)",
            reference=lambda x: x.square().sum().sqrt(),
            inputs=lambda gen: [100 * torch.randn(20, generator=gen)],
            fine=[half_precision()],
        )
    """

    def run(trial: Trial) -> None:
        for kind in kinds or (torch.float16, torch.bfloat16):
            # Not against a rounded result: near a tie, that is a whole step off for a right answer.
            half_a_step = 0.6 * torch.finfo(kind).eps / torch.finfo(torch.float64).eps
            for case in trial.cases(inputs):
                narrow = mapped(partial(_narrowed, kind), case.given)
                here = Case(f"{case.about}, in {kind}", narrow)
                text = trial.text(here)("")
                wanted = trial.wanted(mapped(_double, narrow))
                yours = trial.run(narrow)
                expect_equal(getattr(yours, "dtype", None), kind, f"the dtype of {text}")
                expect_close(yours.double(), wanted, text, ulps=half_a_step, scale=scale)

    return Clause(name, title, run)


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
                laid = Case(f"{case.about}, {how}", mapped(lay, case.given))
                flat_read = {"the numbers are read in the order of memory, past the strides": _past_strides}
                packed = {told: _of(trial, change, laid) for told, change in flat_read.items()}
                wanted = trial.wanted(laid.given)
                trial.compare(trial.run(laid.given), wanted, laid, suspects=packed)

    return Clause(name, title, run)


def _of(trial: Trial, change: Callable[[Tensor], Tensor], case: Case) -> Callable[[], Any]:
    return lambda: trial.wanted(mapped(change, case.given))


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
            cut = mapped(lambda x: x[:0] if x.ndim and len(x) == size else x, case.given)
            found = [Case("an empty batch", cut)]
        for case in found:
            trial.expect(case)

    return Clause(name, title, run)
