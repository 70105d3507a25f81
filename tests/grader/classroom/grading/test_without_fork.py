"""Grading on a system where nobody has seen fork work with torch: macOS, as far as can be pretended."""

import json
import subprocess
import sys

import pytest

from tests.grader.support.clone import HIDDEN, SOLUTION, Clone

pytestmark = pytest.mark.slow

KATA = """
import os, sys, sysconfig
from grader.cli import main

sysconfig.get_config_vars()  # which looks for a file of the platform's
sys.platform = "darwin"
del os.fork  # whoever calls it is seen
main()
"""
ANSWERS = {
    "ada": ("passed", SOLUTION),
    "bob": ("failed", SOLUTION.replace("2.0", "3.0")),
    "cem": ("failed", SOLUTION.replace("return", "if len(x) == 9:\n        return x\n    return")),
    "dot": ("broken", "def double(x:\n"),
    "eva": ("todo", "def double(x):\n    raise NotImplementedError\n"),
    "fay": ("crashed", "import os\nos._exit(0)\n"),
}


@pytest.fixture(scope="module")
def grade(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("double")
    clone.add("unsound", hidden=HIDDEN.replace("x * 2", "x * 3"))
    clone.add_step("twice")
    folder = tmp_path_factory.mktemp("class")
    for student, (_, text) in ANSWERS.items():
        for stem in ("double", "unsound", "steps/twice"):
            answer = folder / "in" / student / "e01_tensors" / f"{stem}.py"
            answer.parent.mkdir(parents=True, exist_ok=True)
            answer.write_text(text)

    def grade(*options):
        line = ["grade", str(folder / "in"), "--out", str(folder / "out"), *options]
        done = subprocess.run(
            [sys.executable, "-c", KATA, *line], cwd=clone.root, capture_output=True, text=True, check=False
        )
        return done, folder / "out"

    return grade


def test_verdicts_are_those_of_an_engine(grade):
    done, out = grade("--sandbox", "off")
    assert "Traceback" not in done.stderr
    records = {who: json.loads((out / f"{who}.json").read_text())["exercises"] for who in ANSWERS}
    found = {who: record["double"]["status"] for who, record in records.items()}
    assert found == {who: status for who, (status, _) in ANSWERS.items()}
    steps = {who: record["twice"]["status"] for who, record in records.items()}
    assert steps == {**found, "cem": "failed"} and records["ada"]["twice"]["points"] == 0
    outcomes = [c["outcome"] for c in records["cem"]["double"]["checks"]]
    assert outcomes == 3 * ["passed"] + 3 * ["failed"]  # the oracle alone has nine numbers
    assert {record["unsound"]["status"] for record in records.values()} == {"grader_fault"}
    told = " ".join(records["ada"]["unsound"]["flags"])
    assert told.startswith("the reference fails hidden::test_values: "), told


def test_there_is_no_sandbox_and_a_line_says_so(grade):
    done, _ = grade()
    assert done.returncode == 2
    assert "bubblewrap needs Linux" in done.stderr
    assert "--sandbox off" in done.stderr
