"""docs/instructors.md: its commands are run in order, on some of the sample class."""

import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader import sandbox
from grader.course.catalog import load
from grader.course.paths import ROOT

pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "instructors.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
BY_HAND = [block for block in BLOCKS if block.startswith("# by hand\n")]
SOME = ("ada", "dora", "hana", "ivan", "jun")
OWN = ("handout", "solution", *(f"submissions/{student}" for student in ("alma", "dina", "ines")))
"""Of the assignment with tests of its own."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """An instructor's course, after all commands of the page, and beside it where the clone would be."""
    home = tmp_path_factory.mktemp("term")
    place = home / "torchkata"
    for student in SOME:
        shutil.copytree(ROOT / "samples/class" / student, place / "samples/class" / student)
    for part in OWN:
        shutil.copytree(ROOT / "samples/assignment1" / part, place / "samples/assignment1" / part)
    shutil.copytree(ROOT / "samples/capstone", place / "samples/capstone")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    environment |= {"PATH": path, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    script = "\n".join(block for block in BLOCKS if block not in BY_HAND)
    if sandbox.unavailable():
        script = script.replace("kata grade ", "kata grade --sandbox off ")
    done = subprocess.run(
        ["bash", "-exc", script], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "my-course"


@pytest.mark.slow
def test_a_term_ends_with_the_same_totals_everywhere(walked):
    results = {who: json.loads((walked / "results" / f"{who}.json").read_text()) for who in SOME}
    totals = {who: result["score"] for who, result in results.items()}
    assert totals["ada"] > totals["dora"] > totals["hana"] > 0
    with (walked / "grades.csv").open(newline="") as stream:
        rows = {(r["student_id"], r["assignment"]): float(r["score"]) for r in csv.DictReader(stream)}
    in_gradebook = {who: rows[who, "week1"] for who in SOME}
    assert in_gradebook == pytest.approx(totals, abs=1e-9)  # nbgrader adds the scores up as they are
    for file in ("scores.json", "graded.json"):
        students = json.loads((walked / file).read_text())["students"]
        assert {one["student"]: one["score"] for one in students} == {**totals, "kim": 0}
    for who, total in totals.items():
        assert json.loads((walked / "gradescope" / who / "results.json").read_text())["score"] == total


@pytest.mark.slow
def test_the_samples_capstone_is_judged_as_its_page_says(walked):
    """A row is `| ada | what she did | passed | 5 | |`."""
    table = (ROOT / "samples/capstone/README.md").read_text("utf-8")
    rows = [re.split(r" *\| *", line)[1:6] for line in table.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[1:]] == ["ada", "bob", "cyd", "dov"]
    for who, _, status, count, flag in rows[1:]:
        record = json.loads((walked / f"../capstone/{who}.json").read_text())["exercises"]["broken_gpt"]
        assert (record["status"], sum(record["bugs"].values())) == (status, int(count)), who
        assert len(record["flags"]) == bool(flag)
        assert all(part in "".join(record["flags"]) for part in flag.split("; ")), who
    assert "4 students, 4 variants" in (walked / "../capstone/report/index.html").read_text("utf-8")


@pytest.mark.slow
def test_the_pair_that_is_shown_is_what_the_page_says(tmp_path):
    (block,) = [block for block in BLOCKS if "copied" in block]
    shown = re.search(r"^```text\n(jun and .*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    place = tmp_path / "torchkata"
    shutil.copytree(ROOT / "samples" / "class", place / "submissions")
    (place / "course.toml").touch()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    subprocess.run(["bash", "-euc", block], cwd=place, env=environment, check=True, capture_output=True)
    page = html.unescape(re.sub(r"<[^>]+>", "", (tmp_path / "copied" / "similar.html").read_text("utf-8")))
    assert shown and [line for line in shown[1].splitlines() if line not in page.splitlines()] == []


@pytest.mark.slow
def test_a_term_knows_its_roster_and_when_work_came(walked):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{walked / 'course/gradebook.db'}") as book:
        ada, dora = (book.find_submission("week1", who) for who in ("ada", "dora"))
        assert (dora.student.first_name, dora.student.last_name) == ("Dora", "Marsden")
        assert str(dora.timestamp) == "2026-11-22 19:00:00" > str(dora.assignment.duedate)
        assert (dora.total_seconds_late, ada.total_seconds_late) == (0, 0), "extensions count"
        assert book.find_student("kim").email == "kim@example.org"
    assert "Dora" in (walked / "report/index.html").read_text()
    assert (walked / "report/students/kim.html").is_file()


@pytest.mark.slow
def test_a_term_leaves_what_the_page_promises(walked):
    promised = ["report/index.html", "report/students/ada.html", "similar.html", "scores.csv", "canvas.csv"]
    promised += ["course/feedback/ada/week1/week1.html", "../kata-for-students/Makefile"]
    promised += ["course/release/week1/week1.ipynb", "course/autograded/hana/week1/week1.ipynb"]
    promised += ["solutions/e20_own/shares.py"]
    assert [name for name in promised if not (walked / name).is_file()] == []
    feedback = (walked / "course/feedback/hana/week1/week1.html").read_text()
    assert "tampered" in feedback and "HIDDEN" not in feedback


@pytest.mark.slow
def test_what_nobody_handed_in_yet_is_not_asked_of_them(walked):
    with (walked / "week1.csv").open(newline="") as stream:
        rows = {row["student"]: row for row in csv.DictReader(stream)}
    set_in_week1 = sum(e.points for e in load().exercises if e.section == "e01_tensors" and not e.is_step)
    assert {float(row["points"]) for row in rows.values()} == {set_in_week1}
    assert rows["ada"]["total"] == rows["ada"]["week1"]
    assert "shares" not in json.loads((walked / "results/ada.json").read_text())["exercises"]


@pytest.mark.slow
def test_an_assignment_s_own_tests_have_their_points(walked):
    own = walked / "../torchkata/samples/assignment1"
    with (own / "scores.csv").open(newline="") as stream:
        before = {row["student"]: float(row["total"]) for row in csv.DictReader(stream)}
    assert [before[who] for who in ("alma", "dina", "ines")] == [19, 15, 0]
    after = {who: json.loads((own / f"results/{who}.json").read_text()) for who in ("alma", "dina", "ines")}
    assert {record["points"] for record in after.values()} == {20 + 6 + 8}
    assert after["alma"]["score"] == 34 and after["ines"]["score"] == 0
    assert after["dina"]["score"] == pytest.approx(20 * 6 / 7 + 6 + 1 + 5 * 2 / 3, abs=1e-3)
    assert "test_attention_with_mask" in (own / "report/students/dina.html").read_text()


def test_what_is_tried_by_hand_is_little():
    """A network, Jupyter, notebooks that were handed in, Gradescope, a cluster, a database server."""
    assert len(BY_HAND) == 6
    assert len(BLOCKS) - len(BY_HAND) >= 9


def test_links_and_headings_are_there():
    text = PAGE.read_text("utf-8")
    headings = {
        re.sub(r"[^\w -]", "", line).lower().replace(" ", "-")
        for line in re.findall(r"^## (.*)$", text, re.M)
    }
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if file:
            assert (PAGE.parent / file).is_file(), target
        else:
            assert anchor in headings, target
