"""Each breakage spoils a solution for the clauses that refuse it."""

import inspect
from types import SimpleNamespace

import pytest
import torch

from grader.authoring import breakages, stand_in
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    gradients,
    half_precision,
    own_memory,
    strides,
    untouched,
    views,
)
from grader.checks.devices import install

SOLUTION = """
def cubes(x, power=3):
    if x.dim() != 2:
        raise ValueError("rows and columns")
    return own(x) ** power

def own(x):
    return x * 1

def rows(x):
    return x[1:]
"""

SUITE = {
    "cubes": Contract(
        "cubes(x)",
        reference=lambda x: x**3,
        inputs=lambda gen: [torch.randn(3, 2, generator=gen), given(torch.randn(2, 5, generator=gen))],
        job=[gradients("x", second_order=True), flat_cost(lambda n: torch.ones(n, 2), over="rows")],
        fine=[
            untouched(),
            own_memory(),
            device(),
            dtypes(torch.float64, torch.bfloat16),
            half_precision(),
            strides(),
            empties(),
            errors(ValueError, lambda gen: [torch.ones(3)], words="rows"),
        ],
    ),
    "rows": Contract(
        "rows(x)",
        fine=[views()],
        reference=lambda x: x[1:],
        inputs=lambda gen: [torch.randn(3, generator=gen)],
    ),
    "own": Contract(
        "own(x)",
        reference=torch.clone,
        inputs=lambda gen: [torch.randn(3, 4, generator=gen)],
        fine=[dtypes(torch.float64, name="copied")],
    ),
}
CHECKS = [check for name, contract in SUITE.items() for check in contract.checks(name)]


def failing(source):
    """The checks that an answer fails, by name."""
    names = {"__name__": "answer"}
    exec(source, names)
    return {check.name for check in CHECKS if _fails(check.function, SimpleNamespace(**names))}


def _fails(function, answer):
    fixtures = {"gen": torch.Generator().manual_seed(1), "device": install(), "answer": answer}
    try:
        function(*(fixtures[name] for name in inspect.signature(function).parameters))
    except Exception:
        return True
    return False


def test_the_solution_fails_nothing():
    assert failing(SOLUTION) == set()


def test_every_breakage_is_refused_by_a_clause():
    assert {breakage for check in CHECKS for breakage in check.refuses} == set(breakages.KINDS)


@pytest.mark.parametrize("breakage", breakages.KINDS)
def test_what_refuses_a_breakage_fails_on_it(breakage):
    refusing = {check.name for check in CHECKS if breakage in check.refuses}
    assert refusing <= failing(stand_in.text(SOLUTION, "breakages", breakage))


@pytest.mark.parametrize(
    "breakage",
    [
        "returns a copy",
        "copies to the CPU",
        "takes a step for each element",
        "raises nothing",
        "raises without a word",
        "reads past the strides",
        "has no second gradients",
        "doubles its gradients",
    ],
)
def test_what_is_broken_is_one_thing(breakage):
    refusing = {check.name for check in CHECKS if breakage in check.refuses}
    assert failing(stand_in.text(SOLUTION, "breakages", breakage)) == refusing


def test_an_array_is_changed_as_well():
    names = {"__name__": "answer"}
    exec(
        stand_in.text("def total(array):\n    return array.sum()\n", "breakages", "changes its arguments"),
        names,
    )
    array = torch.ones(3).numpy()
    assert (names["total"](array), array.tolist()) == (3.0, [2.0, 2.0, 2.0])


def test_constructors_are_broken_as_well():
    layer = """
from torch import nn

class Scale(nn.Module):
    def __init__(self, features):
        super().__init__()
        if features < 1:
            raise ValueError("no features")

    def forward(self, x):
        return x
"""
    names = {"__name__": "answer"}
    exec(stand_in.text(layer, "breakages", "raises nothing", constructors=True), names)
    assert names["Scale"](0)(3.0) == 3.0
