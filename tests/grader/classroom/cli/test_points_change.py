"""Points that change in mid-term: gradebook, formgrader, source, feedback and exports go along."""

import csv
import html
import json
import re
from types import SimpleNamespace

import pytest

from tests.grader.classroom.nbgrader.test_notebooks import nbgrader
from tests.grader.support.clone import SOLUTION, Clone

api = pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

COURSE = """
[assignment.week1]
exercises = ["double"]
points = {points}
due = 2026-11-20T12:00:00Z
"""
ZERO = "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
IN_PLACE = SOLUTION.replace("x * 2.0", "x.mul_(2.0)")
GRADE = ("grade", "--out", "results", "--gradebook", "course/gradebook.db", "--sandbox", "off")


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """Ada came late; bob has a score by hand, 5 of 10; then it is 20, and ada alone is graded again."""
    clone = Clone(tmp_path_factory.mktemp("term") / "torchkata")
    clone.add("double")
    root, course = clone.root, clone.root / "course"

    def kata(*arguments, status=0):
        found, told = clone.kata(*arguments)
        assert found == status, told
        return told

    (root / "course.toml").write_text(COURSE.format(points=10))
    for student, answer in (("ada", SOLUTION), ("bob", IN_PLACE), ("cyd", SOLUTION)):
        (root / "sub" / student / "e01_tensors").mkdir(parents=True)
        (root / "sub" / student / "e01_tensors/double.py").write_text(answer)
    (root / "t.csv").write_text("student,time\nada,2026-11-22T09:00:00Z\n")
    kata("notebooks", "course")
    with (course / "nbgrader_config.py").open("a") as stream:
        stream.write(ZERO)
    kata(*GRADE, "sub", "--times", "t.csv")
    with api.Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        bobs = book.find_grade("double", "week1", "week1", "bob")
        was, bobs.manual_score = bobs.auto_score, 5.0
        book.db.commit()
    nbgrader(course, ("GenerateFeedbackApp", "week1"))
    assert "/ 10.0" in (course / "feedback/bob/week1/week1.html").read_text()
    (root / "course.toml").write_text(COURSE.format(points=20))
    refused = kata("export", status=2)
    regraded = kata(*GRADE, "sub/ada")
    return SimpleNamespace(root=root, course=course, kata=kata, was=was, refused=refused, regraded=regraded)


def grades(term):
    with api.Gradebook(f"sqlite:///{term.course / 'gradebook.db'}") as book:
        found = {}
        for student in ("ada", "bob", "cyd"):
            grade = book.find_grade("double", "week1", "week1", student)
            penalty = book.find_submission_notebook("week1", "week1", student).late_submission_penalty
            found[student] = grade.auto_score, grade.max_score, grade.needs_manual_grade, penalty
        return found


def test_the_gradebook_has_todays_points_for_all_and_penalties_with_them(term):
    assert grades(term) == {
        "ada": (20, 20, False, 20),
        "bob": (pytest.approx(2 * term.was), 20, True, None),
        "cyd": (20, 20, False, None),
    }


def test_exports_between_the_change_and_the_regrade_are_refused_in_a_line(term):
    (line,) = [line for line in term.refused if line.startswith("kata:")]
    assert "double is worth 20 now, and 10 in the gradebook" in line
    assert "`kata grade` with --gradebook" in line


def test_the_run_says_what_it_brought_to_todays_points(term):
    told = "\n".join(term.regraded)
    assert "points changed in the gradebook: double 10 → 20" in told
    assert "entered from earlier runs, too: bob; cyd" in told
    assert f"scores by hand to look at again: bob double, 5 by hand, {2 * term.was:.4g} automatically" in told
    assert "points of today are in source/week1/week1.ipynb now" in told
    assert re.search(r"feedback of before taken away, .*generate_feedback week1.*: ada; bob; cyd", told)
    assert "scores: 1 on other points" in told


def test_notebooks_and_feedback_show_todays_points(term):
    for place in ("source", *(f"autograded/{student}" for student in ("ada", "bob", "cyd"))):
        cells = json.loads((term.course / place / "week1/week1.ipynb").read_text())["cells"]
        found = {cell["id"]: cell for cell in cells}
        assert found["double"]["metadata"]["nbgrader"]["points"] == 20, place
        assert "".join(found["double-statement"]["source"]).startswith("## 1. Double (20 points)\n"), place
        assert place == "source" or " of 20 points" in found["double"]["outputs"][0]["text"]
    nbgrader(term.course, ("GenerateFeedbackApp", "week1"))
    for student, score in (("ada", "20.0"), ("bob", "5.0"), ("cyd", "20.0")):
        page = (term.course / f"feedback/{student}/week1/week1.html").read_text()
        assert f"Score: {score} / 20.0" in " ".join(html.unescape(page).split()), student


def test_a_score_by_hand_of_before_is_asked_about_everywhere(term):
    told = term.kata("export", "--to", "out.csv")
    line = f"scores by hand to look at again: bob double, 5 by hand, {2 * term.was:.4g} automatically now"
    assert line in told
    with (term.root / "out.csv").open(newline="") as stream:
        rows = {row["student"]: row for row in csv.DictReader(stream)}
    assert [rows[name]["total"] for name in ("ada", "bob", "cyd")] == ["0", "5", "20"]
    assert rows["bob"]["flags"] == f"double: look again: {line.partition(', ')[2]}"
    assert f"note: {line}" in term.kata("report")
    page = (term.root / "report/index.html").read_text()
    assert "graded by hand, and judged anew since" in page
    assert "look again" not in (term.root / "report/students/bob.html").read_text()
