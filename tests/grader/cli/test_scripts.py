"""What scripts rely on: JSON on standard output and nothing else, and the exit status."""

import json
import re
import subprocess
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

from grader import cli
from grader.classroom.cli import instructor
from grader.core import progress_bar
from grader.learner import course_map
from tests.grader.classroom.submissions.test_archives import zipped
from tests.grader.support.clone import SOLUTION, STUB, Clone


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone with an exercise that can be judged, and one whose reference fails."""
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("double")
    clone.add("faulty", solution=SOLUTION.replace("return x * 2.0", "raise OSError"), stub=STUB)
    return clone


def run(clone, *arguments):
    command = [sys.executable, "-m", "grader", *arguments]
    return subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False)


def grade(clone, folder, only, *more):
    out = str(folder / "results")
    return run(clone, "grade", str(folder / "in"), "--out", out, "--only", only, "--sandbox", "off", *more)


def hand_in(folder, stem, text):
    (folder / "in").mkdir()
    (folder / "in" / "ada.zip").write_bytes(zipped((f"e01_tensors/{stem}.py", text.encode())))
    (folder / "in" / "bob.zip").write_bytes(b"broken")


def test_grade_prints_json_alone(clone, tmp_path):
    hand_in(tmp_path, "double", SOLUTION.replace("x * 2.0", "x + x"))
    done = grade(clone, tmp_path, "double", "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    data = json.loads(done.stdout)
    assert data["exercises"] == {"double": {"section": "e01_tensors", "title": "Double", "points": 1}}
    ada, bob = data["students"]
    assert (ada["student"], ada["score"], ada["exercises"]["double"]["status"]) == ("ada", 1, "passed")
    assert (bob["student"], bob["score"], bob["exercises"]["double"]["status"]) == ("bob", 0, "not_graded")
    assert "bob.zip is no archive that can be read" in bob["notes"][0]
    assert (data["gradebook"], data["problems"], data["notes"]) == (None, [], [])
    exported = run(clone, "export", "--results", data["results"], "--format", "json")
    assert json.loads(exported.stdout)["students"] == data["students"]


def test_the_roster_names_students_and_gives_everybody_a_row(clone, tmp_path):
    hand_in(tmp_path, "double", SOLUTION.replace("x * 2.0", "x + x + 0"))
    roster = tmp_path / "class.csv"
    roster.write_text("student;name;aliases\ns1;Ada;ada\ns2;Bob;bob\ns3;Eve;\n")
    done = grade(clone, tmp_path, "double", "--json", "--roster", str(roster))
    data = json.loads(done.stdout)
    statuses = {s["student"]: s["exercises"]["double"]["status"] for s in data["students"]}
    assert statuses == {"s1": "passed", "s2": "not_graded", "s3": "todo"}
    assert data["notes"] == ["nothing here from: s3"]
    assert data["students"][2]["notes"] == ["handed in nothing"]
    (tmp_path / "in" / "bob.zip").unlink()
    (tmp_path / "in" / "ada.zip").rename(tmp_path / "in" / "s3.zip")
    again = json.loads(grade(clone, tmp_path, "double", "--json", "--roster", str(roster)).stdout)
    later = {s["student"]: s["exercises"]["double"]["status"] for s in again["students"]}
    assert later == statuses | {"s3": "passed"}, "who hands in nothing now loses nothing"
    refused = grade(clone, tmp_path, "double", "--times", str(roster))
    assert refused.returncode == 2
    assert "name one with --gradebook" in refused.stderr
    roster.write_text("student\ns1\ns1\n")
    refused = grade(clone, tmp_path, "double", "--roster", str(roster))
    assert refused.returncode == 2
    assert refused.stderr.startswith("kata: ") and refused.stderr.count("\n") == 1


def test_a_fault_of_the_grader_is_status_1_and_no_score(clone, tmp_path):
    hand_in(tmp_path, "faulty", SOLUTION)
    done = grade(clone, tmp_path, "faulty")
    assert done.returncode == 1
    assert "not graded by a fault of the grader: faulty, 1 answer: the reference fails" in done.stdout
    again = grade(clone, tmp_path, "faulty", "--json")
    assert again.returncode == 1
    assert json.loads(again.stdout)["students"][0]["exercises"]["faulty"]["score"] is None


def test_status_prints_json(clone):
    done = run(clone, "status", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    assert data["next"] == "double"
    (section,) = data["sections"]
    assert section["name"] == "e01_tensors"
    assert section["exercises"][0] == {
        "slug": "double",
        "title": "Double",
        "path": "core",
        "file": "exercises/e01_tensors/double.py",
        "difficulty": 1,
        "minutes": 5,
        "state": "todo",
        "revealed": False,
    }


def test_audit_prints_json_and_problems_are_status_1(monkeypatch):
    from grader.authoring import audit

    problem = audit.Problem("here", "odd")
    monkeypatch.setattr(audit, "audit", lambda *known: [problem])
    result = CliRunner().invoke(cli.app, ["audit", "--only", "merge_heads", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "exercises": ["merge_heads"],
        "problems": [{"where": "here", "what": "odd"}],
    }


@pytest.mark.parametrize(("done", "status"), [(True, 0), (False, 1)])
def test_scores_that_did_not_reach_the_gradebook_are_status_1(monkeypatch, done, status):
    monkeypatch.setattr(instructor, "grade", lambda *rest, **more: done)
    assert CliRunner().invoke(cli.app, ["grade", "anywhere"]).exit_code == status


def test_an_interrupt_is_status_130(monkeypatch):
    def interrupt(out):
        raise KeyboardInterrupt

    monkeypatch.setattr(course_map, "show", interrupt)
    assert CliRunner().invoke(cli.app, ["status"]).exit_code == 130


def test_help_tells_the_exit_status():
    shown = re.sub(r"\s+", " ", CliRunner().invoke(cli.app, ["--help"]).stdout)
    for words in ("Exit status: 0 done", "1 done, but", "2 bad input", "130 interrupted"):
        assert words in shown


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_for_terminals(terminal, capsys):
    console = Console(stderr=True, force_terminal=terminal)
    with progress_bar.bar(console, "doing") as told:
        told(1, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("doing" in captured.err) is terminal
