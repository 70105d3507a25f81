"""Fixtures of `conftest.py`: what a suite gets of them under pytest, it gets in the engine."""

import json
import subprocess
import sys

import pytest

from tests.grader.support.clone import HIDDEN, PUBLIC, SOLUTION, STEP, Clone

pytestmark = pytest.mark.slow

CONFTEST = """
import pytest
import torch

MADE, ENDED = [], []


@pytest.fixture(scope="session")
def costly():
    MADE.append("session")
    return torch.arange(3.0)


@pytest.fixture(scope="module")
def wanted(costly):
    MADE.append("module")
    yield costly * 2
    ENDED.append("module")


@pytest.fixture
def gen():
    return "ours"
"""
SHARING = """
from tests.hidden.e01_tensors.conftest import ENDED, MADE


def test_shared(answer, costly, wanted):
    \"\"\"Three numbers are doubled.\"\"\"
    expect_close(answer.double(costly), wanted, "double(x)")


def test_own(answer, gen):
    \"\"\"A fixture of this name is meant, not ours.\"\"\"
    assert gen == "ours"


def test_shared_again(answer, costly, wanted):
    \"\"\"Three numbers are doubled again.\"\"\"
    expect_close(answer.double(costly), wanted, "double(x)")
    assert (MADE, ENDED) == (["session", "module"], [])
"""
ORACLE = HIDDEN[HIDDEN.index("def oracle") :]
STEPS = """import pytest


@pytest.fixture
def one():
    return 1.0
"""
STEP_SHARING = '''

def test_shared(answer, one):
    """One becomes two."""
    assert answer.double(one) == 2.0
'''


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("double", public=PUBLIC, hidden=HIDDEN.partition("\n\n\n")[0] + SHARING + "\n\n" + ORACLE)
    clone.add_step("once", public=STEP + STEP_SHARING)
    (clone.root / "tests/hidden/e01_tensors/conftest.py").write_text(CONFTEST)
    (clone.root / "tests/public/e01_tensors/steps/conftest.py").write_text(STEPS)
    return clone


def test_under_pytest(clone):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--answers", "solutions"]
    done = subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False)
    assert "6 passed" in done.stdout, done.stdout


def test_in_the_engine(clone, tmp_path):
    for place in ("double", "steps/once"):
        file = tmp_path / "in/ada/e01_tensors" / f"{place}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SOLUTION)
    out = tmp_path / "out"
    code, lines = clone.kata("grade", str(tmp_path / "in"), "--out", str(out), "--sandbox", "off")
    assert code == 0, lines
    record = json.loads((out / "ada.json").read_text())["exercises"]
    found = [c for e in record.values() for c in e["checks"] if not c["id"].startswith("oracle")]
    assert [check["outcome"] for check in found] == ["passed"] * 6, found
