"""What needs packages that are not installed is not graded here: no failure, and nobody's fault."""

import io
import json
import os
import subprocess
import sys

import pytest
from rich.console import Console

from grader import sandbox
from grader.course import paths
from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.learner.jupyter import Verdict
from grader.learner.outcome import learn
from grader.learner.watch import screen
from grader.plugin.subprocess_run import Fresh
from grader.protocol.job import Job
from tests.grader.support.clone import HIDDEN, PUBLIC, SOLUTION, STUB, Clone

pytestmark = pytest.mark.slow


def imports(text):
    return text.replace("def double", "import nothing_like_it\n\n\ndef double", 1)


FAR = imports(SOLUTION)
NEEDS = '\n\npytestmark = pytest.mark.needs("nothing_like_it", "torch")\n'
PUBLIC_NEEDS, HIDDEN_NEEDS = (f"import pytest\n{suite}{NEEDS}" for suite in (PUBLIC, HIDDEN))
DEPLOY = ("onnx_parity", "validated_endpoint")
HIDING = """
from importlib.machinery import PathFinder

found = PathFinder.find_spec


class Hiding:
    def __call__(self, name, *rest):
        return None if name in ("onnx", "onnxruntime", "onnxscript", "starlette") else found(name, *rest)


PathFinder.find_spec = Hiding()
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("double")
    clone.add("far", stub=imports(STUB), solution=FAR, public=PUBLIC_NEEDS, hidden=HIDDEN_NEEDS)
    return clone


def test_it_is_graded_where_the_packages_are(clone, tmp_path):
    answers = tmp_path / "in" / "ada" / "e01_tensors"
    answers.mkdir(parents=True)
    for name, text in (("double", SOLUTION), ("far", FAR)):
        (answers / f"{name}.py").write_text(text + "# mine\n")
    line = ("grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--sandbox", "off")
    assert clone.kata(*line)[0] == 0
    record = json.loads((tmp_path / "out" / "ada.json").read_text())
    assert {slug: found["status"] for slug, found in record["exercises"].items()} == {
        "double": "passed",
        "far": "not_graded",
    }
    assert (record["score"], record["points"]) == (1, 1)
    assert {check["message"] for check in record["exercises"]["far"]["checks"]} == {
        "needs `pip install nothing_like_it`"
    }
    package = clone.root / "nothing_like_it.py"  # installed later, it is judged
    package.touch()
    status, _ = clone.kata(*line)
    package.unlink()
    assert status == 0
    record = json.loads((tmp_path / "out" / "ada.json").read_text())
    assert record["exercises"]["far"]["status"] == "passed"


def test_the_audit_leaves_it_out(clone):
    status, lines = clone.kata("audit")
    assert (status, lines) == (0, ["audit: 2 exercises, no problems"])


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """Python processes that find none of the packages of the extra `deploy`."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    places = f"{tmp_path}{os.pathsep}{paths.ROOT}"
    monkeypatch.setenv("PYTHONPATH", places)
    monkeypatch.setitem(sandbox.ENVIRONMENT, "PYTHONPATH", places)  # of an engine


@pytest.mark.parametrize("judge", [lambda chosen: Pool(chosen, jobs=1, confined=False), Fresh])
def test_a_learner_is_told(hidden, judge):
    chosen = [load().exercise(slug) for slug in DEPLOY]
    with judge(chosen) as judges:
        for exercise in chosen:
            answer = exercise.file("solutions").read_bytes()
            findings = judges.judge_one(Job(exercise, answer, seed=0, mode="check"))
            found = learn(exercise, judges.inventory[exercise.slug], findings)
            assert (found.state, found.trouble, found.failures, found.passed) == ("todo", "", (), ())
            console = Console(file=io.StringIO(), width=100, record=True)
            console.print(screen.lesson(found, None))
            for told in (repr(Verdict(found)), Verdict(found)._repr_html_(), console.export_text()):
                assert "not judged here" in told
                assert "needs `pip install " in " ".join(told.split())


def test_pytest_skips_it(hidden):
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--answers", "solutions"]
    done = subprocess.run(
        [*line, "-k", " or ".join(DEPLOY)], cwd=paths.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "not graded here" in done.stdout
    assert not {"passed", "failed"} & set(done.stdout.split())
