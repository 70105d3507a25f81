"""`Contract`: what an exercise demands, declared once; makes its checks and its oracle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from grader.checks.contract.call import Case, Signature
from grader.checks.contract.clause import Clause
from grader.checks.contract.computed import gradients, values
from grader.checks.contract.effects import Effect, effects
from grader.checks.contract.given import Given, Inputs, as_given, copied
from grader.checks.contract.layer import built, forward_of, referred
from grader.checks.contract.result import Dims
from grader.checks.contract.trial import Function, Trial
from grader.checks.failure import Misuse
from grader.checks.registered import tensors_of

APART = frozenset({"inputs", "gradient", "after", "use", "fine_inputs", "ulps", "scale"})
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
    refuses: tuple[str, ...]


@dataclass(frozen=True)
class Contract:
    """What an exercise demands of a function or a layer: a `Contract` of a suite is collected as its checks.

    One that is called `contract` makes `test_values` and so on, `softmax = Contract(…)` makes
    `test_softmax_values`. The example, a whole suite, makes `test_worked_example`, `test_values` and
    `test_gradients`, of the job; three checks of the fine print; and the oracle, whose cases are those of
    `inputs` and "the gradient". What is special to an exercise stays written out beside it, as a test, and
    `def oracle` where this one does not do.

    Of a layer, ``"RMSNorm(features, eps)(x)"``, the calls are `layer(…)(…)`: how it is built, its parameters
    and buffers by name, and what it is called with. The reference gets these tensors in a dict, the arguments
    of the call, and by name what it has parameters for, of the constructor's arguments and `training`:
    ``def normed(state, x, eps=1e-6)``; a mistake with ``**options`` gets what the reference does. Every
    clause does for a layer: it is moved and cast, and its parameters have gradients, by their names in
    `gradient`; "state" stands for all of them.

    Of a step of training the arguments are models, optimizers and batches; the reference is the loop that is
    written out, which works on copies of them. `after` names what is compared beside the result, as it is
    after the call: ``"model"``, ``"model.grad"``, a tensor that is changed in place, a buffer of the layer.
    Several steps are one call with a list of batches, by `use`:
    ``lambda answer, model, batches: [answer.step(model, *batch) for batch in batches]``. A context manager is
    called by `use` as well, in a function with a `with`.

    Args:
        call: the function with its positional parameters: ``"standardize(x, dim)"``; a layer with those of
            its constructor before: ``"RMSNorm(features, eps)(x)"``.
        reference: slow, plain and right. It gets copies in float64, and its results are rounded to
            the dtype of the first floating argument.
        inputs: draws ordinary calls from a generator, by what they are in words, for feedback and the
            oracle ("three rows", "with correction and eps"), or as a list. A call is `given(…)`, or
            `layer(…)(…)`, a tuple of positional arguments, or the only one. An oracle wants three or more.
        example: a call and what it gives, or a list of such pairs. Nested lists stand for tensors.
        gradient: names of parameters whose gradients are part of the job: ``"x weight"``.
        job: clauses of the job beside those that `example`, `inputs` and `gradient` make.
        fine: clauses of the fine print.
        suspects: mistakes in words, and a function like the reference that makes each (see
            `grader.checks.expect_close`); for all values that are compared, those of the same function in the
            other suite of the exercise as well.
        dims: names of the dimensions of the result; a sequence of such texts for several results.
        ulps, scale: what rounding may do: see `expect_close`.
        after: names of what is compared after the call as well, in words: ``"model x"``.
        widens: False where the reference is to get its copies in the dtypes that they have.
        use: how to call the answer, a function of its module and the arguments, where it is no
            function of that name: ``lambda answer, x: answer.total(x)[0]``. A layer comes in its place.
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


        def loop(model, optimizer, x, target):
            optimizer.zero_grad()
            loss = (model(x) - target).square().mean()
            loss.backward()
            optimizer.step()
            return loss.item()


        def start(gen):
            model = nn.Linear(3, 1).double()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            return given(model, optimizer, torch.ones(2, 3).double(), torch.zeros(2, 1).double())


        steps = Contract(
            "step(model, optimizer, x, target)",
            reference=loop,
            inputs=lambda gen: {"a linear model": start(gen)},
            after="model",
            fine=[values(after="model.grad", name="gradients_stay", title="The gradients stay.")],
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
    after: str = ""
    widens: bool = True
    use: Function | None = None
    fine_inputs: Inputs | None = None

    def __post_init__(self) -> None:
        names = [clause.name for clause, _ in self._clauses()]
        for name in names:
            if names.count(name) > 1:
                raise Misuse(f"two checks of {self.call} are called test_{name}: give one of them a name=")

    @property
    def signature(self) -> Signature:
        """The call's name and parameters."""
        return Signature.of(self.call)

    @property
    def examples(self) -> Sequence[tuple[Any, Any]]:
        """The calls of the worked example, and what each gives."""
        example: Any = self.example
        return [example] if isinstance(example, tuple) and example else example

    def run(self, answer: ModuleType, given: Given) -> Any:
        """What the answer returns for these arguments, and what it leaves behind."""
        return self.prepared(answer, given)()

    def prepared(self, answer: ModuleType, given: Given) -> Callable[[], Any]:
        """A call of the answer; a layer is built by then, and one that is not called is what comes back."""
        if given.layer is not None:
            module = self.layer(answer, given)
            return partial(self.called, module, given) if given.is_call else lambda: module
        function = partial(self.use, answer) if self.use else getattr(answer, self.signature.name)
        named = self.signature.named(given)
        return lambda: self._outcome(function(*given.args, **given.kwargs), named)

    def called(self, module: nn.Module, given: Given) -> Any:
        """What this layer returns, and what it leaves behind."""
        assert given.layer is not None
        forward = forward_of(module, given.layer.state)
        function = partial(self.use, forward) if self.use else forward
        result = function(*given.args, **given.kwargs)
        return self._outcome(result, {**self.signature.named(given), **tensors_of(module)})

    def layer(self, answer: ModuleType, given: Given) -> nn.Module:
        """A new layer of the answer, with its state loaded."""
        text = self.signature.text(given._replace(args=(), kwargs={}))
        return built(getattr(answer, self.signature.name), given, text)

    def referred(self, function: Function, given: Given) -> Any:
        """What a function like the reference returns, and what it leaves behind."""
        named = self.signature.named(given)
        if given.layer is None:
            return self._outcome(function(*given.args, **given.kwargs), named)
        options = {**self.signature.of_layer(given.layer), "training": given.layer.training}
        result, state = referred(function, given, options, like=self.reference, name=self.signature.name)
        return self._outcome(result, {**named, **state})

    def _outcome(self, result: Any, named: Mapping[str, Any]) -> Any:
        return Effect(result, effects(named, self.after)) if self.after else result

    def effects(self, named: Mapping[str, Any]) -> dict[str, Tensor | None]:
        """What a call may change, as it is."""
        return effects(named, self.after)

    def checks(self, variable: str) -> Iterator[Check]:
        """The checks of the contract that a suite holds under this name."""
        plain = variable == "contract"
        for clause, fine in self._clauses():
            name = f"test_{clause.name}" if plain else f"test_{variable}_{clause.name}"
            title = clause.title if plain else f"{self.signature.name}: {clause.title}"
            yield Check(name, fine, self._function(clause, name, title), clause.refuses)

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
        for one, result in self.examples:
            case = Case("", trial.started(self.arguments(one)))
            wanted = self._wanted(trial, case.given, result)
            rough = isinstance(wanted, Tensor) and wanted.dtype is torch.float32
            trial.expect(case, wanted=wanted, ulps=ROUGH if rough else None)

    def arguments(self, one: Any) -> Given:
        """Those of a call of the worked example."""
        if isinstance(one, Given):
            return copied(one)
        return Given(tuple(_tensor(part) for part in as_given(one).args), {})

    def _wanted(self, trial: Trial, given: Given, result: Any) -> Any:
        """The example's result, of the kind that the reference gives, and what that one leaves behind.

        Where neither is asked for, the reference need not know the example: it is not called.
        """
        if self.reference is None or not (self.after or isinstance(result, list)):
            return _like(None, result)
        like = trial.wanted(given)
        if isinstance(like, Effect):
            return Effect(_like(like.result, result), like.after)
        return _like(like, result)


def _like(like: Any, result: Any) -> Any:
    if not isinstance(result, list):
        return result
    if like is None:
        return torch.tensor(result)
    return torch.tensor(result, dtype=like.dtype) if isinstance(like, Tensor) else result


def _tensor(value: Any) -> Any:
    return torch.tensor(value) if isinstance(value, list) else value
