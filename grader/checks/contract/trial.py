"""A contract, tried on one answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from grader.checks.contract.call import Case, Given, Inputs, cases, mapped, tensors
from grader.checks.contract.result import expect_result, rounded, widened
from grader.checks.error_words import SUSPECT

if TYPE_CHECKING:
    from grader.checks.contract.contract import Contract

Function = Callable[..., Any]


@dataclass(frozen=True)
class Trial:
    """What a check of a contract has at hand. `device` is the simulated one, where the check asks for it."""

    contract: "Contract"
    answer: ModuleType
    gen: torch.Generator
    device: torch.device | None = None

    def cases(self, inputs: Inputs | None = None) -> list[Case]:
        """Freshly drawn calls: those of `inputs`, or else of the contract."""
        draw = inputs or self.contract.inputs
        if draw is None:
            raise ValueError(f"the contract of {self.contract.call} lacks inputs=")
        return cases(draw(self.gen))

    def run(self, given: Given) -> Any:
        """What the answer returns."""
        return self.contract.run(self.answer, given)

    def wanted(self, given: Given, function: Function | None = None) -> Any:
        """What the reference, or `function`, returns for copies of these arguments."""
        function = function or self.contract.reference
        if function is None:
            raise ValueError(f"the contract of {self.contract.call} lacks reference=")
        floating = (t.dtype for t in tensors(given) if t.is_floating_point() or t.is_complex())
        args, kwargs = widened(given)
        return rounded(function(*args, **kwargs), next(floating, None))

    def text(self, case: Case) -> Callable[[str], str]:
        """What feedback calls the part of this call's result at a path."""
        call, where = self.contract.signature.text(case.given), case.where()
        return lambda path: f"{call}{path}{where}"

    def suspects(self, given: Given, mistakes: Mapping[str, Function]) -> dict[str, Callable[[], Any]]:
        """What each of these mistakes gives for these arguments, when it is asked for."""
        kept = Given(*widened(given))  # the answer may change what it is given
        return {told: partial(self.wanted, kept, make) for told, make in mistakes.items()}

    def expect(
        self,
        case: Case,
        mistakes: Mapping[str, Function] | None = None,
        *,
        wanted: Any = None,
        **options: Any,
    ) -> None:
        """Fail unless the answer returns what is wanted, or else what the reference does."""
        wanted = self.wanted(case.given) if wanted is None else wanted
        mistakes = (self.contract.suspects or {}) if mistakes is None else mistakes
        suspects = self.suspects(case.given, mistakes)
        yours = self._run(case.given, mistakes)
        self.compare(yours, wanted, case, suspects=suspects, **options)

    def _run(self, given: Given, mistakes: Mapping[str, Function]) -> Any:
        """What the answer returns; what it raises is marked with the mistake that raises the same."""
        kept = mapped(torch.clone, given)
        try:
            return self.run(given)
        except Exception as error:
            setattr(error, SUSPECT, next((m for m in mistakes if _raises(error, mistakes[m], kept)), None))
            raise

    def compare(self, yours: Any, wanted: Any, case: Case, **options: Any) -> None:
        """Fail unless this result of the call is what is wanted."""
        own: dict[str, Any] = {"ulps": self.contract.ulps, "scale": self.contract.scale}
        own |= {name: value for name, value in options.items() if value is not None}
        expect_result(yours, wanted, self.text(case), dims=self.contract.dims, **own)


def _raises(error: Exception, mistake: Function, given: Given) -> bool:
    """Whether this function fails on copies of these arguments just as the answer did."""
    args, kwargs = mapped(torch.clone, given)
    try:
        mistake(*args, **kwargs)
    except Exception as other:
        return (type(other), str(other)) == (type(error), str(error))
    return False
