"""From formgrader to Canvas, Gradescope and the student's page: what a person and a due date changed."""

import csv
import json
import shutil
import subprocess
import sys

import pytest

from grader.course.cell_names import answer_cell
from grader.course.paths import ROOT

api = pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

SECTION = "e01_tensors"
SLUG = "merge_heads"
POINTS = 2.0
COMMENT = "A nice idea:\n<b>say why</b>"


def kata(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """A class that was graded and corrected: results/, and a gradebook in course/."""
    folder = tmp_path_factory.mktemp("term")
    solution = (ROOT / "solutions" / SECTION / f"{SLUG}.py").read_text("utf-8")
    for student, text in {"ada": solution, "bob": solution, "cyd": f"def {SLUG}(x):\n    return x\n"}.items():
        file = folder / "work" / student / f"{SLUG}.py"
        file.parent.mkdir(parents=True)
        file.write_text(text, "utf-8")
    (folder / "course").mkdir()
    book = folder / "course" / "gradebook.db"
    kata(
        *("grade", str(folder / "work"), "--out", str(folder / "results"), "--gradebook", str(book)),
        *("--only", SLUG, "--sandbox", "off"),
    )
    with api.Gradebook(f"sqlite:///{book}") as gradebook:
        place = (SECTION, SECTION)
        ada = gradebook.find_grade(SLUG, *place, "ada")
        ada.extra_credit = 0.25
        cyd = gradebook.find_grade(SLUG, *place, "cyd")
        cyd.manual_score, cyd.needs_manual_grade = 1.5, False
        gradebook.find_comment(answer_cell(SLUG), *place, "cyd").manual_comment = COMMENT
        for student, points in {"bob": 0.5, "cyd": 9.0}.items():
            gradebook.find_submission_notebook(*place, student).late_submission_penalty = points
        gradebook.db.commit()
    return folder


def test_canvas_gets_scores_as_corrected_and_penalties_as_a_column(term):
    done = kata("export", "--results", str(term / "results"), "--format", "canvas")
    header, possible, *rows = csv.reader(done.stdout.splitlines())
    assert header[5:] == [SLUG, f"{SECTION} late penalty", "Final Points"]
    assert possible[5:] == ["2", "0", "(read only)"]
    assert {row[0]: row[5:] for row in rows} == {
        "ada": ["2.25", "0", "2.25"],
        "bob": ["2", "-0.5", "1.5"],
        "cyd": ["1.5", "-1.5", "0"],
    }
    (line,) = done.stderr.splitlines()
    assert line.startswith("scores as corrected in the gradebook ")
    assert line.endswith("gradebook.db: 2 scores, 1 comment and 2 late penalties")


def test_a_gradebook_without_corrections_is_named_and_nothing_is_counted(term):
    results, book = term / "clean", term / "clean.db"
    work = str(term / "work")
    kata("grade", work, "--out", str(results), "--gradebook", str(book), "--only", SLUG, "--sandbox", "off")
    (line,) = kata("export", "--results", str(results)).stderr.splitlines()
    assert line.startswith("nothing is corrected in the gradebook ") and line.endswith("clean.db")


def test_canvas_takes_penalties_off_a_total_and_is_told_where_it_has_no_place_for_them(term, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    for file in (term / "results").glob("*.json"):
        (results / file.name).write_bytes(file.read_bytes())
    book = str(term / "course" / "gradebook.db")
    for column, bobs, told in ((SECTION, "1.5", 1), (SLUG, "2", 2)):
        roster = f"Student,ID,SIS User ID,SIS Login ID,Section,{column} (5)\nbob,7,,bob,Monday,\n"
        (results / "canvas.csv").write_text(roster, "utf-8")
        done = kata("export", "--results", str(results), "--format", "canvas", "--gradebook", book)
        assert {row[0]: row[5] for row in csv.reader(done.stdout.splitlines())}["bob"] == bobs
        lines = [line for line in done.stderr.splitlines() if "ada, cyd" not in line]
        assert len(lines) == told
        assert (f"“{SECTION} late penalty” of 0 points" in lines[-1]) is (told == 2)


def test_csv_and_json_have_corrections_and_penalties(term):
    results = str(term / "results")
    table = kata("export", "--results", results).stdout.splitlines()
    rows = {row["student"]: row for row in csv.DictReader(table)}
    bobs = [rows["bob"][name] for name in (SLUG, SECTION, "late_penalty", "total")]
    assert bobs == ["2", "1.5", "0.5", "1.5"]
    assert rows["ada"]["late_penalty"] == "0"
    students = json.loads(kata("export", "--results", results, "--format", "json").stdout)["students"]
    ada, bob, cyd = students
    assert (ada["score"], bob["score"], cyd["score"]) == (2.25, 1.5, 0)
    assert bob["penalties"] == {SECTION: 0.5}
    assert cyd["exercises"][SLUG]["by_hand"] == {"score": 1.5, "extra_credit": 0.0, "comment": COMMENT}
    assert cyd["exercises"][SLUG]["score"] == 1.5


def test_gradescope_gets_score_comment_and_penalty(term, tmp_path):
    kata("export", "--results", str(term / "results"), "--format", "gradescope", "--to", str(tmp_path))
    found = json.loads((tmp_path / "cyd" / "results.json").read_text("utf-8"))
    (case,) = found["tests"]
    assert (case["score"], case["max_score"], found["score"]) == (1.5, POINTS, 0)
    assert "status" not in case, "Gradescope looks at the score"
    assert case["output"].startswith(f"{COMMENT}\n\nfailed: ")
    assert found["output"].splitlines()[-1] == f"late: 1.5 points taken off {SECTION}"


def test_the_students_page_has_score_comment_and_penalty(term, tmp_path):
    kata("report", "--results", str(term / "results"), "--to", str(tmp_path))
    page = (tmp_path / "students" / "cyd.html").read_text("utf-8")
    assert "<strong>1.5</strong> of 2 points, graded by hand" in page
    assert "A nice idea:\n&lt;b&gt;say why&lt;/b&gt;" in page
    assert f"Late: 1.5 points taken off {SECTION}" in page
    assert "<strong>0</strong> of 2 points" in page
    assert "of 2 points, 0.25 extra credit" in (tmp_path / "students" / "ada.html").read_text("utf-8")


def test_without_the_gradebook_scores_are_those_of_the_grader(term):
    options = ("--results", str(term / "results"), "--gradebook", "none")
    done = kata("export", *options)
    rows = {row["student"]: row for row in csv.DictReader(done.stdout.splitlines())}
    assert (rows["bob"]["total"], float(rows["cyd"]["total"]) < 1.5) == ("2", True)
    assert "late_penalty" not in rows["bob"]
    assert done.stderr == ""


@pytest.mark.parametrize("verb", ["export", "report"])
def test_a_gradebook_that_is_gone_is_told_and_not_made(term, tmp_path, verb):
    gone = tmp_path / "gone.db"
    options = ("--results", str(term / "results"), "--gradebook", str(gone))
    done = kata(verb, *options, status=2)
    assert "there is no gradebook" in done.stderr and "--gradebook none" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not gone.exists()


def test_results_and_course_may_move_together(term, tmp_path):
    for folder in ("results", "course"):
        shutil.copytree(term / folder, tmp_path / folder)
    done = kata("export", "--results", str(tmp_path / "results"))
    assert "2 scores, 1 comment and 2 late penalties" in done.stderr
    (tmp_path / "course" / "gradebook.db").unlink()
    assert "there is no gradebook" in kata("export", "--results", str(tmp_path / "results"), status=2).stderr


def test_a_roster_can_be_named(term, tmp_path):
    roster = tmp_path / "people.csv"
    roster.write_text("student,section\nada,A\n")
    done = kata("export", "--results", str(term / "results"), "--roster", str(roster))
    header, ada, *_ = csv.reader(done.stdout.splitlines())
    assert (header[:2], ada[:2]) == (["student", "section"], ["ada", "A"])
