"""Clauses about how it is done: arguments left alone, memory, devices, cost, errors, functions ruled out."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_leaves, tree_map_only
from grader.checks.contract.clause import Clause, listed
from grader.checks.contract.given import Inputs, as_given, mapped, tensors
from grader.checks.contract.trial import Trial
from grader.checks.cost.memory import expect_copy, expect_view
from grader.checks.cost.operations import expect_flat_cost, forbid
from grader.checks.devices import count_traffic, expect_no_traffic, on_host, to_device
from grader.checks.raises import expect_raises
from grader.checks.side_effects import unchanged
from grader.checks.values import expect_equal


def untouched(
    *,
    inputs: Inputs | None = None,
    name: str = "arguments_are_left_alone",
    title: str = "The arguments stay as they are.",
) -> Clause:
    """No tensor among the arguments is changed; a layer is called once more without gradients.

    Example:
        centered = Contract(
            "center(x)",
            reference=lambda x: x - x.mean(),
            inputs=lambda gen: [torch.randn(4, generator=gen)],
            fine=[untouched()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            named, text = trial.contract.signature.tensors(case.given), trial.text(case)("")
            with unchanged(text, **named):
                trial.run(case.given)
            if case.given.layer is not None:
                with unchanged(f"{text} under no_grad", **named), torch.no_grad():
                    trial.run(case.given)

    return Clause(name, title, run, refuses=("changes its arguments",))


def own_memory(
    *,
    inputs: Inputs | None = None,
    name: str = "memory_of_its_own",
    title: str = "The result has memory of its own.",
) -> Clause:
    """Writing to a result writes to no argument.

    Example:
        snapshots = Contract(
            "snapshot(x)",
            reference=torch.clone,
            inputs=lambda gen: [torch.randn(2, 3, generator=gen)],
            job=[own_memory()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            yours = trial.run(case.given)
            for x in tensors(case.given):
                for part in tree_leaves(yours):
                    expect_copy(part, x, trial.text(case)(""))

    return Clause(name, title, run, refuses=("returns a view of its argument",))


def views(
    *,
    inputs: Inputs | None = None,
    name: str = "view",
    title: str = "The result is a view: nothing is copied.",
) -> Clause:
    """The result looks at the memory of the first tensor.

    Example:
        columns = Contract(
            "columns(x)",
            reference=lambda x: x.mT,
            inputs=lambda gen: [torch.randn(2, 3, generator=gen)],
            job=[views()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            expect_view(trial.run(case.given), next(tensors(case.given)), trial.text(case)(""))

    return Clause(name, title, run, refuses=("returns a copy",))


def device(
    *,
    inputs: Inputs | None = None,
    name: str = "stays_on_the_device",
    title: str = "What lies on another device is worked on there, without a trip through the CPU.",
) -> Clause:
    """On the simulated device, results are there too, and nothing is copied to or from the host.

    Example:
        centered_there = Contract(
            "center(x)",
            reference=lambda x: x - x.mean(),
            inputs=lambda gen: [torch.randn(4, generator=gen)],
            fine=[device()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            wanted, text = trial.wanted(case.given), trial.text(case)("")
            call = trial.prepared(mapped(to_device, case.given))
            with count_traffic() as traffic:
                yours = call()
            for part in tree_leaves(yours):
                if isinstance(part, Tensor):
                    expect_equal(part.device, trial.device, f"the device of {text}")
            trial.compare(tree_map_only(Tensor, on_host, yours), wanted, case)
            expect_no_traffic(traffic, text)

    refuses = ("returns its result on the CPU", "copies to the CPU")
    return Clause(name, title, run, on_device=True, refuses=refuses)


def flat_cost(
    make: Callable[[int], Any] | Mapping[str, Callable[[int], Any]],
    *,
    over: str = "",
    name: str = "no_loop",
    title: str = "",
) -> Clause:
    """The number of operations does not grow with n, where `make(n)` gives the arguments of a call.

    Of several sizes, a dict has such a function for each: ``{"rows": lambda n: …, "features": lambda n: …}``.

    Example:
        grams = Contract(
            "gram(x)",
            reference=lambda x: x @ x.mT,
            inputs=lambda gen: [torch.randn(4, 3, generator=gen)],
            fine=[flat_cost(lambda n: torch.ones(n, 3), over="rows")],
        )
    """

    sizes = dict(make) if isinstance(make, Mapping) else {over: make}

    def run(trial: Trial) -> None:
        def prepared(size: str, n: int) -> Callable[[], object]:
            return trial.prepared(as_given(sizes[size](n)))

        for size in sizes:
            expect_flat_cost(partial(prepared, size), trial.contract.call, over=size)

    title = title or f"The cost does not grow with {listed(sizes)}: there is no loop."
    return Clause(name, title, run, refuses=("takes a step for each element",))


def errors(
    kind: type[Exception] | tuple[type[Exception], ...],
    inputs: Inputs,
    *,
    words: str = "",
    name: str = "errors",
    title: str = "",
) -> Clause:
    """Each of these calls raises `kind`, with `words` in its message.

    Example:
        halves = Contract("halves(n)", fine=[errors(ValueError, lambda gen: [3, 5], words="even")])
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)

    def run(trial: Trial) -> None:
        for case in trial.drawn(inputs):
            text = trial.text(case)("")
            expect_raises(kind, lambda case=case: trial.run(case.given), text, words=words)  # type: ignore[misc]

    title = title or f"Bad input raises {' or '.join(k.__name__ for k in kinds)}."
    wordless = ("raises without a word",) if words else ()
    return Clause(name, title, run, refuses=("raises nothing", "raises another error", *wordless))


def without(
    *names: str,
    inputs: Inputs | None = None,
    name: str = "own_computation",
    title: str = "The answer does it itself, without the functions that the statement rules out.",
) -> Clause:
    """None of these functions is used, under whatever path: see `grader.checks.forbid`.

    Example:
        by_hand = Contract(
            "softmax(x)",
            reference=lambda x: x.softmax(dim=1),
            inputs=lambda gen: [torch.randn(4, 3, generator=gen)],
            job=[without("softmax", "log_softmax")],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            with forbid(trial.text(case)(""), *names):
                trial.run(case.given)

    return Clause(name, title, run)
