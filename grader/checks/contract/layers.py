"""Clauses about layers: what they have registered, and what is loaded into them."""

import io

import torch

from grader.checks.contract.call import Case
from grader.checks.contract.clause import Clause
from grader.checks.contract.given import Inputs
from grader.checks.contract.trial import Trial
from grader.checks.registered import expect_registered


def registered(
    *,
    buffers: str = "",
    inputs: Inputs | None = None,
    name: str = "registered",
    title: str = "Parameters and buffers have the names and shapes that the statement gives.",
) -> Clause:
    """The layer has registered the tensors of its state, and no others, as parameters but for `buffers`.

    Example:
        one_weight = Contract(
            "Scale(features)(x)",
            inputs=lambda gen: [layer(3, state={"weight": torch.ones(3)})],
            job=[registered()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.drawn(inputs):
            held = case.given._replace(args=(), kwargs={})
            assert held.layer is not None
            module = trial.contract.layer(trial.answer, held._replace(layer=held.layer._replace(state={})))
            shapes = {name: tuple(t.shape) for name, t in held.layer.state.items()}
            kept = {name: shapes.pop(name) for name in buffers.split()}
            expect_registered(module, trial.contract.signature.text(held), parameters=shapes, buffers=kept)

    return Clause(name, title, run)


def loads(
    *,
    inputs: Inputs | None = None,
    name: str = "loads",
    title: str = "Saved and loaded, the layer computes with its parameters.",
) -> Clause:
    """A layer that has been used computes what another one did whose saved state dict it loads.

    Example:
        loaded = Contract(
            "Scale(features)(x)",
            reference=lambda state, x: x * state["weight"],
            inputs=lambda gen: [layer(3, state={"weight": torch.randn(3, generator=gen)})(torch.ones(2, 3))],
            job=[loads()],
        )
    """

    def run(trial: Trial) -> None:
        for case in trial.cases(inputs):
            wanted, held = trial.wanted(case.given), case.given
            assert held.layer is not None
            file = io.BytesIO()
            torch.save(trial.contract.layer(trial.answer, held).state_dict(), file)
            file.seek(0)
            used = trial.contract.layer(trial.answer, held._replace(layer=held.layer._replace(state={})))
            used(*held.args, **held.kwargs)
            used.load_state_dict(torch.load(file, weights_only=True))
            after = Case(f"{case.about}, after load_state_dict(…)", held)
            trial.compare(trial.contract.called(used, held), wanted, after)

    return Clause(name, title, run)
