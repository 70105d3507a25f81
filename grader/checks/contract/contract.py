"""`Contract`: what an exercise demands, declared once; makes its checks and its oracle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_map_only
from grader.checks.contract.call import Case, Given, Inputs, Signature, as_given
from grader.checks.contract.clause import Clause
from grader.checks.contract.computed import gradients, values
from grader.checks.contract.result import Dims
from grader.checks.contract.trial import Function, Trial

APART = frozenset({"inputs", "gradient", "use", "fine_inputs"})
"""The keywords of a `Contract` that an oracle needs. All others are cut away where answers run: an answer can
look at who calls it, and is to find no reference there."""

ROUGH = 1024.0
"""Rounding errors granted to a worked example, whose numbers a statement gives to four places."""


@dataclass(frozen=True)
class Check:
    """A check that a contract makes; its function takes fixtures and has the title as its docstring."""

    name: str
    fine: bool
    function: Callable[..., None]


@dataclass(frozen=True)
class Contract:
    """What an exercise demands of one function: a `Contract` of a suite's module is collected as its checks.

    One that is called `contract` makes `test_values` and so on, `softmax = Contract(…)` makes
    `test_softmax_values`. The example, a whole suite, makes `test_worked_example`, `test_values` and
    `test_gradients`, of the job; three checks of the fine print; and the oracle, whose cases are those of
    `inputs` and "the gradient". What is special to an exercise stays written out beside it, as a test, and
    `def oracle` where this one does not do.

    Args:
        call: the function with its positional parameters: ``"standardize(x, dim)"``.
        reference: slow, plain and right. It gets copies in float64, and its results are rounded to
            the dtype of the first floating argument.
        inputs: draws ordinary calls from a generator, by what they are in words, for feedback and the
            oracle ("three rows", "with correction and eps"), or as a list. A call is `given(…)`, a tuple of
            positional arguments, or the only argument. An oracle wants three or more.
        example: a call and what it gives, or a list of such pairs. Nested lists stand for tensors.
        gradient: names of parameters whose gradients are part of the job: ``"x weight"``.
        job: clauses of the job beside those that `example`, `inputs` and `gradient` make.
        fine: clauses of the fine print.
        suspects: mistakes in words, and a function like the reference that makes each (see
            `grader.checks.expect_close`); for all values that are compared.
        dims: names of the dimensions of the result; a sequence of such texts for several results.
        ulps, scale: what rounding may do: see `expect_close`.
        use: how to call the answer, a function of its module and the arguments, where it is no
            function of that name: ``lambda answer, x: answer.Norm(4)(x)``.
        fine_inputs: draws calls for a `fine_oracle`; a clause (`values(inputs=…)`) is to check the same.

    Example:
        contract = Contract(
            "shares(sold, dim)",
            reference=lambda sold, dim, base=1.0: base * sold / sold.sum(dim, keepdim=True),
            example=(given(torch.tensor([[1.0, 3.0], [5.0, 5.0]]), 1), [[0.25, 0.75], [0.5, 0.5]]),
            inputs=lambda gen: {
                "as many shops as fruits": given(torch.rand(4, 4, generator=gen), 1),
                "three shops": given(torch.rand(3, 4, generator=gen), 1),
                "percentages by fruit": given(torch.rand(2, 5, generator=gen), dim=0, base=100.0),
            },
            gradient="sold",
            suspects={"keepdim is missing": lambda sold, dim, base=1.0: base * sold / sold.sum(dim)},
            fine=[dtypes(torch.float64, torch.bfloat16), untouched(), device()],
        )
    """

    call: str
    _: KW_ONLY
    reference: Function | None = None
    inputs: Inputs | None = None
    example: tuple[Any, Any] | Sequence[tuple[Any, Any]] = ()
    gradient: str = ""
    job: Sequence[Clause] = ()
    fine: Sequence[Clause] = ()
    suspects: Mapping[str, Function] | None = None
    dims: Dims = ""
    ulps: float | None = None
    scale: float | None = None
    use: Function | None = None
    fine_inputs: Inputs | None = None

    def __post_init__(self) -> None:
        names = [clause.name for clause, _ in self._clauses()]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"two checks of {self.call} are called test_{name}: give one of them a name="
                )

    @property
    def signature(self) -> Signature:
        """The call's name and parameters."""
        return Signature.of(self.call)

    def run(self, answer: ModuleType, given: Given) -> Any:
        """What the answer returns for these arguments."""
        if self.use is not None:
            return self.use(answer, *given.args, **given.kwargs)
        return getattr(answer, self.signature.name)(*given.args, **given.kwargs)

    def checks(self, variable: str) -> Iterator[Check]:
        """The checks of the contract that a suite holds under this name."""
        plain = variable == "contract"
        for clause, fine in self._clauses():
            name = f"test_{clause.name}" if plain else f"test_{variable}_{clause.name}"
            title = clause.title if plain else f"{self.signature.name}: {clause.title}"
            yield Check(name, fine, self._function(clause, name, title))

    def _clauses(self) -> Iterator[tuple[Clause, bool]]:
        """Every clause, and whether it is fine print."""
        if self.example:
            yield (
                Clause("worked_example", "The worked example of the statement comes out.", self._example),
                False,
            )
        named = {clause.name for clause in self.job}
        if self.inputs and self.reference and "values" not in named:
            yield values(), False
        if self.gradient and self.reference and "gradients" not in named:
            yield gradients(self.gradient), False
        yield from ((clause, False) for clause in self.job)
        yield from ((clause, True) for clause in self.fine)

    def _function(self, clause: Clause, name: str, title: str) -> Callable[..., None]:
        def plain(answer: ModuleType, gen: torch.Generator) -> None:
            clause.run(Trial(self, answer, gen))

        def there(answer: ModuleType, gen: torch.Generator, device: torch.device) -> None:
            clause.run(Trial(self, answer, gen, device))

        function: Callable[..., None] = there if clause.on_device else plain
        function.__name__ = function.__qualname__ = name
        function.__doc__ = title
        return function

    def _example(self, trial: Trial) -> None:
        pairs = [self.example] if isinstance(self.example, tuple) else self.example
        for one, result in pairs:
            case = Case("", self._arguments(one))
            wanted = self._wanted(trial, case.given, result)
            rough = isinstance(wanted, Tensor) and wanted.dtype is torch.float32
            trial.expect(case, wanted=wanted, ulps=ROUGH if rough else None)

    def _arguments(self, one: Any) -> Given:
        if isinstance(one, Given):
            return tree_map_only(Tensor, torch.clone, one)  # type: ignore[no-any-return]
        return Given(tuple(_tensor(part) for part in as_given(one).args), {})

    def _wanted(self, trial: Trial, given: Given, result: Any) -> Any:
        """The example's result, of the kind that the reference gives."""
        if not isinstance(result, list):
            return result
        if self.reference is None:
            return _tensor(result)
        like = trial.wanted(given)
        return torch.tensor(result, dtype=like.dtype) if isinstance(like, Tensor) else result


def _tensor(value: Any) -> Any:
    return torch.tensor(value) if isinstance(value, list) else value
