"""The workflows ask for what is there: targets of the Makefile, markers of tests, versions."""

import re
import subprocess

import pytest
import yaml

from grader.core.toml import tomllib
from grader.course import paths
from grader.plugin.markers import MARKERS
from tests.grader.conftest import NEEDS

FOLDER = paths.ROOT / ".github" / "workflows"
TARGETS = set(re.findall(r"^([\w./-]+):(?!=)", (paths.ROOT / "Makefile").read_text(), re.MULTILINE))


def jobs(name):
    return yaml.safe_load((FOLDER / f"{name}.yml").read_text())["jobs"]


def asked_of_make(job):
    """The targets and settings that a job's steps give to make, with each value of its matrix."""
    rows = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
    for line in "\n".join(step.get("run", "") for step in job["steps"]).splitlines():
        for row in rows:
            filled = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found, row=row: row.get(found[1], ""), line)
            if filled.startswith("make "):
                settings = dict(re.findall(r'(\w+)="([^"]*)"', filled))
                yield re.sub(r'\w+="[^"]*"', "", filled).split()[1:], settings


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.yml")))
def test_every_job_runs_somewhere_and_has_an_end(name):
    for job in jobs(name).values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job)


def test_every_target_and_marker_is_there():
    every = [*jobs("test").values(), *jobs("nightly").values()]
    asked = [line for job in every for line in asked_of_make(job)]
    targets = {target for found, _ in asked for target in found}
    assert targets <= TARGETS
    assert {"lint", "test-suites", "audit", "test-grader", "test-quick", *NEEDS} <= targets
    marks = {mark for _, settings in asked for mark in settings.values()}
    words = set(re.findall(r"\w+", " ".join(marks))) - {"not", "or", "and"}
    assert words == set(NEEDS)
    makefile = (paths.ROOT / "Makefile").read_text()
    (quick,) = re.findall(r'-m "not \((.*)\)"', makefile)
    assert set(quick.split(" or ")) == {*NEEDS, "slow"} <= {*NEEDS, *MARKERS}


def test_every_python_that_we_name_is_tried():
    matrix = jobs("nightly")["machines"]["strategy"]["matrix"]
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={matrix['python'][0]}"
    oldest = next(one for one in project["dependencies"] if one.startswith("torch>="))
    steps = " ".join(step.get("run", "") for step in jobs("nightly")["machines"]["steps"])
    assert f"torch=={oldest.removeprefix('torch>=')}.*" in steps
    assert {row["torch"] for row in matrix["include"]} == {"oldest", "nightly"}
    pushed = jobs("test")["machines"]["strategy"]["matrix"]["include"]
    assert pushed[0]["python"] == matrix["python"][0]
    assert {row["os"] for row in pushed} == {*matrix["os"]}


def test_make_check_asks_for_no_system_package():
    line = ["make", "-n", "check", "-o", ".venv/.dev"]
    told = subprocess.run(line, cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout
    assert "lint-imports" in told
    assert "--answers solutions" in told
    assert "install_system" not in told
