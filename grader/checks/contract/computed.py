"""Clauses about what comes out: values and gradients."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from grader.checks.contract.call import Case
from grader.checks.contract.clause import Clause, listed
from grader.checks.contract.given import Inputs, widened
from grader.checks.contract.result import flat
from grader.checks.contract.trial import Function, Trial
from grader.checks.gradients import expect_gradients


def values(
    *,
    inputs: Inputs | None = None,
    suspects: Mapping[str, Function] | None = None,
    ulps: float | None = None,
    scale: float | None = None,
    after: str | None = None,
    name: str = "values",
    title: str = "The values are right for ordinary inputs.",
) -> Clause:
    """The results are the reference's, up to rounding; all but `inputs` as in the contract.

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
        here = trial if after is None else trial.leaving(after)
        for case in here.cases(inputs):
            here.expect(case, suspects, ulps=ulps, scale=scale)

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
            if leaves := trial.contract.signature.leaves(case.given, of):
                _expect_gradients(trial, case, leaves, ulps, scale, second_order)

    title = title or f"Gradients flow back to {listed(of.split())}, and are right."
    second = ("has no second gradients",) if second_order else ()
    return Clause(name, title, run, refuses=("detaches its result", "doubles its gradients", *second))


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
        given = contract.signature.replaced(exact, dict(zip(leaves, those, strict=True)))
        return flat(contract.referred(reference, given))

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
