"""nbgrader's formgrader in a browser, on a course whose class handed in files."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from grader.classroom.grading.grade import GradingSettings, grade
from grader.classroom.nbgrader import connection, formgrader, gradebook, source_notebooks
from grader.classroom.submissions.class_folder import Submission, collect
from grader.classroom.submissions.generated import MARK
from grader.classroom.submissions.notebook import answers_in
from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section, load
from grader.notebooks.notebook_answer import split
from grader.records.arrivals import Arrival
from grader.records.records import (
    CheckRecord,
    ExerciseRecord,
    StudentRecord,
    rescaled,
    student_to_json,
    write_json,
)
from grader.verdict import cache_key
from tests.grader.classroom.nbgrader.test_notebooks import configure, nbgrader
from tests.grader.support.browser import watched

api = pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

E01 = "e01_tensors"
SLUGS = ("describe", "merge_heads", "device_agnostic")
CATALOG = Catalog((Section(E01, "Tensors", tuple(map(load().exercise, SLUGS))),))
RIGHT = {  # below the statement, as learners write them
    e.slug: (split(e.file("exercises"))[0] + split(e.file("solutions"))[1]).encode()
    for e in CATALOG.exercises
}
SCRIPT = "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
WRONG = f"def merge_heads(x):\n    return x  # </pre>{SCRIPT}\n".encode()
MESSAGE = f"wrong values from merge_heads(x)\n  yours   <b>1</b></textarea></pre>{SCRIPT} $`*\n  wanted  2"
EVE = "eve<img src=x onerror='window.owned = 1'>"

PASSED = ExerciseRecord("passed", 2.0, 2.0, (CheckRecord("t::a", "works", "passed"),))
PARTIAL = ExerciseRecord(
    "partial",
    1.5,
    2.0,
    (CheckRecord("t::a", "works", "passed"), CheckRecord("t::b", "keeps the order", "failed", MESSAGE)),
)
TODO = ExerciseRecord("todo", 0.0, 2.0)
UNKNOWN = ExerciseRecord("not_graded", 0.0, 2.0)
CLASS = {
    "Ada Lovelace_7": (RIGHT, (PASSED, PASSED, PASSED)),
    "bob": ({"describe": RIGHT["describe"], "merge_heads": WRONG}, (PASSED, PARTIAL, TODO)),
    "cleo": ({"device_agnostic": RIGHT["device_agnostic"]}, (TODO, TODO, UNKNOWN)),
}
NOT_WRITTEN = (
    "not written to the gradebook: formgrader would take a part of this name for HTML; "
    "rename what was handed in"
)
WITH_EVE = {**CLASS, EVE: ({"merge_heads": WRONG}, (TODO, PARTIAL, TODO))}
TIME = "2026-11-20 12:00:01 UTC"


def enter(folder, students=CLASS, judged=SLUGS, late=()):
    """Do what `kata grade --gradebook` does once everything was judged."""
    url = str(folder / "gradebook.db")
    records = [record_of(who, got) for who, (_, got) in students.items()]
    work = [Submission(who, answers) for who, (answers, _) in students.items()]
    arrivals = {(who, E01): Arrival(TIME) for who in late}
    problems = [f"{who}: {NOT_WRITTEN}" for who in students if who == EVE]
    assert gradebook.write(url, records, CATALOG, arrivals) == problems
    assert connection.place(url).folder == folder and formgrader.is_course(folder, CATALOG)
    formgrader.write(folder, work, records, judged, CATALOG, gradebook.times(url))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A course before anything was handed in: nbgrader takes seconds to make a gradebook."""
    folder = tmp_path_factory.mktemp("begun") / "course"
    source_notebooks.write(folder, CATALOG, None)
    gradebook.write(str(folder / "gradebook.db"), [], CATALOG)
    return folder


@pytest.fixture
def folder(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "course")


def place(folder, who, tree="autograded"):
    return folder / tree / who / E01 / f"{E01}.ipynb"


def answers(folder, who, tree="autograded"):
    return answers_in(place(folder, who, tree).read_bytes(), CATALOG)


def cells(file):
    return {cell["id"]: cell for cell in json.loads(file.read_text())["cells"]}


def test_every_student_has_a_notebook_with_answers_and_verdicts(folder):
    enter(folder, late=["bob"])
    assert answers(folder, "Ada Lovelace_7") == answers(folder, "Ada Lovelace_7", "submitted") == RIGHT
    starts = {e.slug: e.file("exercises").read_bytes() for e in CATALOG.exercises}
    assert answers(folder, "cleo") == {**starts, "device_agnostic": RIGHT["device_agnostic"]}
    shown = cells(place(folder, "bob"))
    assert shown["merge_heads-answer"]["source"] == WRONG.decode().strip()
    (output,) = shown["merge_heads"]["outputs"]
    assert output["text"].startswith("1.5 of 2 points; partial: 1 of 2 checks passed") and "wanted" in str(
        output
    )
    text = place(folder, "bob").read_text()
    assert "HIDDEN" not in text and "SOLUTION" not in text and "score(" not in text
    for tree in ("submitted", "autograded"):
        stamp = place(folder, "bob", tree).with_name("timestamp.txt")
        assert stamp.read_text().startswith(TIME[:-4])
        assert not place(folder, "cleo", tree).with_name("timestamp.txt").exists()
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*.ipynb")}
    enter(folder, late=["bob"])
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.ipynb")} == before


def test_what_a_run_does_not_judge_stays(folder):
    enter(folder)
    changed = {"bob": ({"merge_heads": RIGHT["merge_heads"]}, (PASSED, PASSED, TODO))}
    enter(folder, changed, judged=["merge_heads"])
    assert answers(folder, "bob")["describe"] == RIGHT["describe"]
    assert answers(folder, "bob")["merge_heads"] == RIGHT["merge_heads"]
    assert "passed" in str(cells(place(folder, "bob"))["merge_heads"]["outputs"])


def test_an_answer_stays_as_long_as_its_verdict(folder):
    enter(folder)
    later = {"bob": ({"describe": CATALOG.exercises[0].file("exercises").read_bytes()}, CLASS["bob"][1])}
    enter(folder, later)
    assert answers(folder, "bob")["describe"] == RIGHT["describe"]
    assert answers(folder, "bob")["merge_heads"].endswith(WRONG)
    # Something that is the start again but for its layout: the verdict stays, and says on what.
    before = replace(PARTIAL, digests={"answer": cache_key.of_answer(WRONG)})
    enter(folder, {"bob": ({"merge_heads": b"# the start"}, (PASSED, before, TODO))})
    assert answers(folder, "bob")["merge_heads"].endswith(WRONG)


def test_what_was_handed_in_as_a_notebook_stays(folder):
    source = json.loads((folder / "source" / E01 / f"{E01}.ipynb").read_text())
    essay = {"nbgrader": {"grade_id": "essay", "solution": True, "grade": True, "points": 3, "locked": False}}
    source["cells"].append({"cell_type": "markdown", "id": "essay", "metadata": essay, "source": ["Why?"]})
    (folder / "source" / E01 / f"{E01}.ipynb").write_text(json.dumps(source))
    own = json.loads(json.dumps(source).replace("Why?", "Since it is so."))
    own["cells"].append({"cell_type": "markdown", "id": "free", "metadata": {}, "source": ["my notes"]})
    for cell in own["cells"]:
        if cell["id"] == "merge_heads-answer":
            cell["source"] = WRONG.decode()
    file = place(folder, "bob", "submitted")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(own))
    students = {"bob": (answers(folder, "bob", "submitted"), (TODO, PARTIAL, TODO))}
    enter(folder, students)
    assert json.loads(file.read_text()) == own
    shown = cells(place(folder, "bob"))
    assert (shown["essay"]["source"], "free" in shown) == ("Since it is so.", False)
    # What `nbgrader autograde` made of the same answers has all of the notebook, and stays.
    place(folder, "bob").write_text(json.dumps(own))
    enter(folder, students)
    shown = cells(place(folder, "bob"))
    assert shown["free"]["source"] == "my notes"
    assert "partial" in str(shown["merge_heads"]["outputs"])


BOM = "\ufeff".encode()
"""What Windows' editors put at the beginning of a file."""


def test_a_byte_order_mark_is_no_part_of_a_cell(folder):
    marked = {slug: BOM + text for slug, text in RIGHT.items()}
    enter(folder, {"bob": (marked, (PASSED, PASSED, PASSED))})
    assert answers(folder, "bob") == RIGHT
    assert "\ufeff" not in place(folder, "bob").read_text("utf-8")


UNREADABLE = ExerciseRecord("broken", 0.0, 2.0, flags=("is not UTF-8",))


def test_what_was_written_for_formgrader_is_not_handed_in(folder, tmp_path):
    students = {"bob": (RIGHT, (PASSED, PARTIAL, UNREADABLE)), "cleo": CLASS["cleo"]}
    enter(folder, students)
    for who in students:
        write_json(tmp_path / f"{who}.json", student_to_json(record_of(who, students[who][1])))
    own = place(folder, "bob", "submitted").with_name("describe.py")
    own.write_bytes(WRONG)
    work = collect(folder, CATALOG)
    bob, cleo = work.submissions
    assert bob.answers == {"describe": WRONG} and bob.kept == {"merge_heads", "device_agnostic"}
    assert (cleo.answers, cleo.kept, cleo.notes) == ({}, {*SLUGS}, ())
    settings = GradingSettings(tmp_path, seed=0, jobs=1, confined=False)
    found = {
        record.student: record.exercises for record in grade(work.submissions, CATALOG.exercises, settings)
    }
    assert [found["bob"][slug].status for slug in SLUGS] == ["failed", "partial", "broken"]
    assert [found["cleo"][slug].status for slug in SLUGS] == ["todo", "todo", "not_graded"]
    before = place(folder, "cleo").read_bytes()
    records = [StudentRecord(who, 0, exercises) for who, exercises in found.items()]
    formgrader.write(folder, work.submissions, records, SLUGS, CATALOG, {})
    assert place(folder, "cleo").read_bytes() == before
    shown = answers(folder, "bob")
    assert shown["describe"].endswith(WRONG) and shown["merge_heads"] == RIGHT["merge_heads"]


def test_autograding_leaves_the_scores_of_what_nobody_handed_in(folder):
    nbgrader(folder, ("GenerateAssignmentApp", E01))
    students = {"bob": (RIGHT, (PASSED, PARTIAL, UNREADABLE)), "cleo": CLASS["cleo"]}
    enter(folder, students)
    before = entered(folder, students)
    assert before["bob"][0] == {
        "describe": (1, False),
        "merge_heads": (1.5, False),
        "device_agnostic": (0, False),
    }
    told = nbgrader(folder, ("AutogradeApp", E01, "--force"))
    assert "its scores stay" in told
    assert entered(folder, students) == before
    assert "broken" in str(cells(place(folder, "bob"))["device_agnostic"]["outputs"])


def test_a_mark_that_a_student_has_put_gives_no_points(folder):
    nbgrader(folder, ("GenerateAssignmentApp", E01))
    configure(folder, '"required"', '"off"')
    released = json.loads((folder / "release" / E01 / f"{E01}.ipynb").read_text())
    released["metadata"][MARK] = {"student": "eve"}
    place(folder, "eve", "submitted").parent.mkdir(parents=True)
    place(folder, "eve", "submitted").write_text(json.dumps(released))
    nbgrader(folder, ("AutogradeApp", E01, "--create"))
    assert {score for score, _ in entered(folder, ["eve"])["eve"][0].values()} == {0}


def entered(folder, students):
    """What the gradebook has of each student: scores with whether somebody is to look, and comments."""
    with api.Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        mine = {who: book.find_submission_notebook(E01, E01, who) for who in students}
        return {
            who: (
                {one.name: (one.auto_score, one.needs_manual_grade) for one in notebook.grades},
                {one.name: one.auto_comment for one in notebook.comments},
            )
            for who, notebook in mine.items()
        }


def record_of(who, got):
    points = {exercise.slug: float(exercise.points) for exercise in CATALOG.exercises}
    return rescaled(StudentRecord(who, 0, dict(zip(SLUGS, got, strict=True))), points)


def test_files_in_nbgraders_own_folders_stay(folder):
    file = place(folder, "bob", "submitted").with_name("merge_heads.py")
    file.parent.mkdir(parents=True)
    file.write_bytes(WRONG)
    enter(folder)
    assert [f.name for f in file.parent.iterdir()] == [file.name]
    assert place(folder, "bob").is_file()


def test_nobody_is_called_like_a_folder_above(folder):
    enter(folder, {name: CLASS["bob"] for name in (".", "..")})
    assert not [*folder.glob("submitted/**/*"), *folder.glob("autograded/**/*"), *folder.glob(f"{E01}*")]


def test_what_cannot_be_read_or_written_is_one_line(folder):
    source = folder / "source" / E01 / f"{E01}.ipynb"
    text = source.read_text()
    source.write_text("[")
    with pytest.raises(KataError, match=r"cannot be read .*mend it"):
        enter(folder)
    source.write_text(text)
    (folder / "autograded").write_text("")
    with pytest.raises(KataError, match="cannot write what formgrader shows"):
        enter(folder)


def add_notes(file):
    """What a student may write beside the answers, as `nbgrader autograde` would leave it."""
    notebook = json.loads(file.read_text())
    attached = {"x.svg": {"image/svg+xml": "PHN2Zy8+"}}
    notes = f"# Notes\n\n{SCRIPT}\n\n![picture](attachment:x.svg)\n\n```mermaid\n</pre>{SCRIPT}\n```\n"
    about = {"cell_type": "markdown", "id": "notes", "metadata": {}, "attachments": attached}
    notebook["cells"].append({**about, "source": notes})
    file.write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def server(begun, tmp_path_factory):
    """Jupyter's server with formgrader, on a port that is free."""
    home = tmp_path_factory.mktemp("home")
    folder = shutil.copytree(begun, tmp_path_factory.mktemp("made") / "course")
    enter(folder, WITH_EVE, late=["bob"])
    add_notes(place(folder, "bob"))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    environment |= {"HOME": str(home), "JUPYTER_RUNTIME_DIR": str(home / "runtime")}
    options = ["--ServerApp.port=0", "--ServerApp.open_browser=False", "--allow-root"]
    options += ["--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=secret"]
    log = home / "log"
    with log.open("wb") as stream:
        running = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            cwd=folder,
            env=environment,
            stdout=stream,
            stderr=stream,
        )
    try:
        for _ in range(600):
            files = list((home / "runtime").glob("jpserver-*.json"))
            if files or running.poll() is not None:
                break
            time.sleep(0.2)
        assert running.poll() is None and files, log.read_text()
        address = json.loads(files[0].read_text())["url"]
        yield SimpleNamespace(address=address, folder=folder, log=log)
    finally:
        running.terminate()
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


@pytest.fixture
def visit(server, browser):
    # MathJax would come from elsewhere.
    with watched(browser, strict=False) as (page, seen):
        page.goto(f"{server.address}formgrader/manage_assignments?token=secret")

        def visit(path):
            assert not page.evaluate("window.owned")
            page.goto(f"{server.address}formgrader/{path}")
            return page

        yield visit
        assert not page.evaluate("window.owned")
        assert {*seen.errors} <= {"MathJax is not defined", "Failed to load resource: net::ERR_FAILED"}


def row(page, name):
    return page.locator("tr", has_text=name).first.inner_text().split()


def test_formgrader_lists_what_was_graded(visit):
    visit("manage_assignments").get_by_role("link", name="3", exact=True).wait_for()
    page = visit(f"manage_submissions/{E01}")
    page.locator("tr", has_text="bob").wait_for()
    bob, cleo = row(page, "bob"), row(page, "cleo")
    assert "graded" in bob and "2.5" in bob and "2026-11-20" in " ".join(bob)
    assert {"needs", "manual", "grading"} <= {*cleo}
    page = visit("gradebook")
    page.locator("tr", has_text=E01).wait_for()
    page = visit(f"gradebook/{E01}/{E01}")
    page.locator("tr", has_text="Submission #3").wait_for()
    page = visit("manage_students")
    page.locator("tr", has_text="Ada Lovelace_7").wait_for()
    for who, score in (("bob", "2.5"), ("Ada Lovelace_7", "5")):
        assert score in row(page, who)
        page = visit(f"manage_students/{quote(who)}")
        page.locator("tr", has_text=E01).wait_for()
        assert score in row(page, E01)
        page = visit("manage_students")
        page.locator("tr", has_text=who).wait_for()


def test_formgrader_shows_an_answer_with_its_verdict_and_takes_corrections(visit, server):
    page = visit(f"manage_students/bob/{E01}")
    page.locator("tr", has_text="2.5").get_by_role("link", name=E01, exact=True).click()
    score = page.locator("input.score#merge_heads[placeholder='1.5']")
    score.wait_for()
    comments = "textarea#merge_heads-answer-comment[placeholder^='partial: 1 of 2 checks passed']"
    assert "wanted  2" in page.locator(comments).get_attribute("placeholder")  # which waits for it
    body = page.locator("body").inner_text()
    assert "yours   <b>1</b>" in body and body.count(SCRIPT) == 2
    assert page.locator("h1", has_text="Notes").count() == page.get_by_alt_text("picture").count() == 1
    with page.expect_response("**/api/grade/*"):
        score.fill("2")
        score.press("Tab")
    enter(server.folder, late=["bob"])
    with api.Gradebook(f"sqlite:///{server.folder / 'gradebook.db'}") as book:
        grade = book.find_grade("merge_heads", E01, E01, "bob")
        assert (grade.auto_score, grade.manual_score, grade.score) == (1.5, 2, 2)
        grade.manual_score = None  # for the other tests
        book.db.commit()
