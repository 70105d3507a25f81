"""A contract is collected like tests that are written out: by pytest, by xdist, and by the engine."""

import subprocess
import sys

import pytest

from tests.grader.support.clone import ADDING, CONSTANT, MUTATING, Clone

PUBLIC = """
from grader.checks.contract import Contract

contract = Contract("double(x)", example=([1.0, 2.0], [2.0, 4.0]))
"""
HIDDEN = """
import torch
from grader.checks.contract import Contract, untouched

contract = Contract(
    "double(x)",
    reference=lambda x: x + x,
    inputs=lambda gen: {f"{n} numbers": torch.randn(n, generator=gen) for n in (4, 5, 6)},
    gradient="x",
    fine=[untouched(title="x stays as it is.")],
)
"""
IDS = [
    "tests/public/e01_tensors/test_double.py::test_worked_example",
    "tests/hidden/e01_tensors/test_double.py::test_values",
    "tests/hidden/e01_tensors/test_double.py::test_gradients",
    "tests/hidden/e01_tensors/test_double.py::test_arguments_are_left_alone",
]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    specimens = [CONSTANT, MUTATING.replace("test_input", "test_arguments_are_left_alone"), ADDING]
    clone.add("double", public=PUBLIC, hidden=HIDDEN, specimens=specimens)
    return clone


def run(clone, *arguments):
    quiet = ["-q", "-pno:cacheprovider", "-pno:randomly"]
    command = [sys.executable, "-m", "pytest", "--answers=solutions", *quiet, *arguments]
    done = subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_pytest_lists_the_checks(clone):
    listed = run(clone, "--collect-only", "tests/public", "tests/hidden")
    assert [line for line in listed if "::" in line] == IDS


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["tests/public", "tests/hidden"], "4 passed"),
        (["tests/public", "tests/hidden", "-n2"], "4 passed"),
        ([IDS[2]], "1 passed"),
        (["tests/hidden", "-k", "values"], "1 passed, 2 deselected"),
        (["tests/hidden", "-m", "not fine"], "2 passed, 1 deselected"),
    ],
)
def test_pytest_runs_them(clone, arguments, count):
    assert any(line.startswith(count) for line in run(clone, *arguments))


def test_the_example_knows_the_suspects_of_the_hidden_suite(clone, tmp_path):
    """A mistake is declared once; a release, which has no hidden suite, goes without."""
    suspects = 'gradient="x",\n    suspects={"nothing is doubled": lambda x: 1 * x},'
    hidden = HIDDEN.replace('gradient="x",', suspects).replace("double(x)", "double(y)")
    (place := clone.root / IDS[1].split("::")[0]).write_text(hidden)
    wrong = tmp_path / "double.py"
    wrong.write_text("def double(x):\n    return x * 1.0\n")
    try:
        told = run(clone, "tests/public", "tests/hidden", f"--answers={wrong}")
        alone = run(clone, "tests/public", f"--answers={wrong}")
    finally:
        place.write_text(HIDDEN)
    line = "  likely  nothing is doubled"
    shown = alone.index("  wanted  [2, 4]")
    assert line not in alone
    assert told[told.index(alone[shown]) + 1 :][:2] == ["  given   x = [1, 2]", line]


def test_the_engine_judges_by_them(clone):
    assert clone.kata("audit") == (0, ["audit: 1 exercises, no problems"])
