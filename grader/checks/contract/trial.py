"""A contract, tried on one answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from grader.checks.contract.call import Case, cases
from grader.checks.contract.effects import Effect, expect_effect
from grader.checks.contract.given import Given, Inputs, copied, dtype_of, widened
from grader.checks.contract.result import expect_result, rounded
from grader.checks.error_words import SUSPECT
from grader.checks.failure import Misuse
from grader.core.sanitize import message_of

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

    def leaving(self, after: str) -> "Trial":
        """The same, with other names of what is compared after a call."""
        return replace(self, contract=replace(self.contract, after=after))

    def drawn(self, inputs: Inputs | None = None) -> list[Case]:
        """Freshly drawn calls: those of `inputs`, or else of the contract."""
        draw = inputs or self.contract.inputs
        if draw is None:
            raise Misuse(f"the contract of {self.contract.call} lacks inputs=")
        return cases(draw(self.gen))

    def cases(self, inputs: Inputs | None = None) -> list[Case]:
        """Freshly drawn calls; a layer without a state has that of one that is built."""
        return [Case(case.about, self.started(case.given)) for case in self.drawn(inputs)]

    def started(self, given: Given) -> Given:
        """The call, where a layer that is given no state has the one that it starts with."""
        if given.layer is None or given.layer.state:
            return given
        begun = self.contract.layer(self.answer, given._replace(args=(), kwargs={})).state_dict()
        state = {name: t.detach().clone() for name, t in begun.items()}
        return given._replace(layer=given.layer._replace(state=state))

    def prepared(self, given: Given) -> Callable[[], Any]:
        """A call of the answer, with a layer built."""
        return self.contract.prepared(self.answer, given)

    def run(self, given: Given) -> Any:
        """What the answer returns."""
        return self.prepared(given)()

    def wanted(self, given: Given, function: Function | None = None) -> Any:
        """What the reference, or `function`, gives for copies of what is given."""
        function = function or self.contract.reference
        if function is None:
            raise Misuse(f"the contract of {self.contract.call} lacks reference=")
        held = widened(given) if self.contract.widens else copied(given)
        return rounded(self.contract.referred(function, held), dtype_of(given))

    def text(self, case: Case) -> Callable[[str], str]:
        """What feedback calls the part of this call's result at a path."""
        call, where = self.contract.signature.text(case.given), case.where()
        return lambda path: f"{call}{path}{where}"

    def suspects(self, given: Given, mistakes: Mapping[str, Function]) -> dict[str, Callable[[], Any]]:
        """What each of these mistakes gives for these arguments, when it is asked for."""
        kept = copied(given)  # the answer may change what it is given
        return {told: cache(partial(self.wanted, kept, make)) for told, make in mistakes.items()}

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
        before = self.contract.effects(self.contract.signature.named(case.given))
        yours = self._run(case.given, mistakes)
        self.compare(yours, wanted, case, suspects=suspects, before=before, **options)

    def _run(self, given: Given, mistakes: Mapping[str, Function]) -> Any:
        """What the answer returns; what it raises is marked with the mistake that raises the same."""
        kept = copied(given)
        try:
            return self.run(given)
        except Exception as error:
            raised = partial(self._raises, error, kept)
            setattr(error, SUSPECT, next((m for m in mistakes if raised(mistakes[m])), None))
            raise

    def _raises(self, error: Exception, given: Given, mistake: Function) -> bool:
        """Whether this function fails on copies of these arguments just as the answer did."""
        try:
            self.contract.referred(mistake, copied(given))
        except Exception as other:
            return (type(other), message_of(other)) == (type(error), message_of(error))
        return False

    def compare(
        self,
        yours: Any,
        wanted: Any,
        case: Case,
        *,
        suspects: Mapping[str, Callable[[], Any]] | None = None,
        before: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Fail unless this is what the call should give, and leave behind."""
        own: dict[str, Any] = {"ulps": self.contract.ulps, "scale": self.contract.scale}
        own |= {name: value for name, value in options.items() if value is not None}
        own["inputs"] = self.contract.signature.tensors(case.given)
        made = dict(suspects or {})
        mine: Mapping[str, Any] = {}
        after: Mapping[str, Any] = {}
        if isinstance(wanted, Effect):
            (yours, mine), (wanted, after) = yours, wanted
            made = {told: _result(make) for told, make in made.items()}
        expect_result(yours, wanted, self.text(case), dims=self.contract.dims, suspects=made, **own)
        for name, right in after.items():
            there = {told: _left(make, name) for told, make in (suspects or {}).items()}
            what, was = f"{name} after {self.text(case)('')}", (before or {}).get(name)
            expect_effect(mine.get(name), right, what, before=was, suspects=there, **own)


def _result(make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: make().result


def _left(make: Callable[[], Any], name: str) -> Callable[[], Any]:
    return lambda: make().after[name]
