"""Clauses about steps of training and whatever else takes a model: modes, hooks, how often things run."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader.checks.contract.clause import Clause
from grader.checks.contract.given import Given, Inputs
from grader.checks.contract.trial import Trial
from grader.checks.side_effects import modes_kept
from grader.checks.values import expect_equal, expect_that


def modes(
    *,
    inputs: Inputs | None = None,
    name: str = "modes_are_kept",
    title: str = "Afterwards each layer is in the mode that it was in.",
) -> Clause:
    """In whatever mode the models are, and a part of each in the other one, results are right and modes kept.

    Example:
        predictions = Contract(
            "predict(model, x)",
            reference=lambda model, x: model(x).argmax(1),
            inputs=lambda gen: [(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.0)), torch.ones(1, 3))],
            fine=[modes()],
        )
    """

    def run(trial: Trial) -> None:
        for training in (True, False):
            for case in trial.drawn(inputs):
                models = _models(trial, case.given)
                for model in models:
                    model.train(training)
                    for part in list(model.children())[:1]:
                        part.train(not training)
                with modes_kept(trial.text(case)(""), *models):
                    trial.expect(case)

    return Clause(name, title, run)


def hooks(
    *,
    inputs: Inputs | None = None,
    name: str = "hooks",
    title: str = "The model's own hooks run.",
) -> Clause:
    """A forward hook on each model among the arguments runs.

    Example:
        scores = Contract(
            "logits(model, x)",
            reference=lambda model, x: model(x),
            inputs=lambda gen: [(nn.Linear(3, 1), torch.ones(2, 3))],
            fine=[hooks()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.drawn(inputs):
            for model in _models(trial, case.given):
                ran: list[int] = []
                model.register_forward_hook(lambda *_, ran=ran: ran.append(1))
                trial.run(case.given)
                told = f"a hook on the model does not run in {trial.text(case)('')}"
                expect_that(bool(ran), told, likely="call model(…), not model.forward(…)")

    return Clause(name, title, run)


def runs(
    *,
    inputs: Inputs | None = None,
    name: str = "what_runs",
    title: str = "What is handed over runs as often as it should.",
    **times: int,
) -> Clause:
    """Models, optimizers and functions among the arguments run so many times: ``runs(model=1, loss_fn=1)``.

    Example:
        losses = Contract(
            "loss_of(model, loss_fn, x)",
            reference=lambda model, loss_fn, x: loss_fn(model(x)),
            inputs=lambda gen: [(nn.Linear(3, 1), torch.mean, torch.ones(2, 3))],
            job=[runs(model=1, loss_fn=1)],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.drawn(inputs):
            ran: Counter[str] = Counter()
            named = trial.contract.signature.named(case.given)
            watched = {part: _counted(named[part], part, ran) for part in times}
            trial.run(trial.contract.signature.replaced(case.given, watched))
            for part, wanted in times.items():
                what = f"{part}.step" if isinstance(named[part], torch.optim.Optimizer) else part
                call = f"the number of times that {what} runs in {trial.text(case)('')}"
                told = {f"{what} runs twice: once gives all that is needed": lambda n=wanted: 2 * n}
                expect_equal(ran[part], wanted, call, suspects=told)

    return Clause(name, title, run)


def _models(trial: Trial, given: Given) -> list[nn.Module]:
    found = trial.contract.signature.named(given).values()
    return [value for value in found if isinstance(value, nn.Module)]


def _counted(value: Any, name: str, ran: Counter[str]) -> Any:
    """What is handed over in its place, which counts how often it runs."""

    def count(*_: Any) -> None:
        ran[name] += 1

    if isinstance(value, torch.optim.Optimizer):
        value.register_step_post_hook(count)
        return value
    if isinstance(value, nn.Module):  # a part of it runs also where `forward` is called past the hooks
        next(m for m in value.modules() if not [*m.children()]).register_forward_hook(count)
        return value
    return _counting(value, count)


def _counting(function: Callable[..., Any], count: Callable[[], None]) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        count()
        return function(*args, **kwargs)

    return called
