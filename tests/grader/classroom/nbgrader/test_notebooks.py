"""An nbgrader course from end to end, by nbgrader's own commands: the scores are those of the same files."""

import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from grader import sandbox
from grader.classroom.grading.grade import GradingSettings, grade
from grader.classroom.nbgrader import gradebook, source_notebooks
from grader.classroom.submissions.class_folder import Submission
from grader.classroom.submissions.notebook import answers_in
from grader.core.errors import KataError
from grader.course import cell_names, paths
from grader.course.catalog import Catalog, Section, load
from grader.course.chapter import text_of
from grader.course.exercise import Exercise
from grader.notebooks.notebook_answer import split
from grader.records.records import ExerciseRecord

api = pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")

from nbgrader.nbgraderformat import MetadataValidator  # noqa: E402
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions  # noqa: E402
from traitlets.config import Config  # noqa: E402

pytestmark = pytest.mark.slow

CATALOG = load()
SOME = {
    "e01_tensors": ("describe", "merge_heads", "expand_not_repeat", "device_agnostic"),
    "e01_tensors_steps": ("first_tensor", "shares_of_a_row"),
    "e07_distributed": ("all_reduce_mean",),
}
FEW = Catalog(tuple(Section(name, name, tuple(map(CATALOG.exercise, slugs))) for name, slugs in SOME.items()))

HANDED_IN = [
    *(("ada", section) for section in SOME),
    ("bob", "e01_tensors"),
    ("bob", "e01_tensors_steps"),
]

COMMANDS = """
import json, sys
from nbgrader import apps
for name, *arguments in json.loads(sys.argv[1]):
    app = getattr(apps, name)()
    app.initialize(arguments)
    app.start()
"""
"""Several commands in one process: starting nbgrader takes longer than most of them."""


def nbgrader(folder, *commands):
    # nbgrader runs `alembic`, which lies beside Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "HOME": str(folder), "PATH": path, "PYTHONPATH": str(paths.ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMMANDS, json.dumps(commands)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def configure(folder, old, new):
    file = folder / "nbgrader_config.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def files():
    """What two students answer, as files: right; and one of each kind, where the rest was not touched."""
    right = {e.slug: e.file("solutions").read_text() for e in FEW.exercises}
    copies = "side_by_side.clone(memory_format=__import__('torch').contiguous_format).view("
    mixed = {
        "merge_heads": right["merge_heads"].replace("side_by_side.reshape(", copies),
        "expand_not_repeat": right["expand_not_repeat"].replace("    return", "    return None and"),
        "device_agnostic": right["device_agnostic"],
        "first_tensor": right["first_tensor"],
        "shares_of_a_row": right["shares_of_a_row"].replace(", keepdim=True", ""),
    }
    return {"ada": right, "bob": mixed}


@pytest.fixture(scope="module")
def records(files, tmp_path_factory):
    """What `kata grade` gives for these files."""
    handed_in = [Submission(who, {slug: t.encode() for slug, t in files[who].items()}) for who in files]
    settings = GradingSettings(tmp_path_factory.mktemp("results"), seed=0, jobs=1, confined=False)
    return {record.student: record for record in grade(handed_in, FEW.exercises, settings)}


def fill(notebook, answers):
    """Do a student's work; imports go into a cell of their own, without metadata."""
    cells = []
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        text = answers.get(name.removesuffix("-answer")) if name.endswith("-answer") else None
        if text is not None:
            exercise = CATALOG.exercise(name.removesuffix("-answer"))
            lines = text.removeprefix(split(exercise.file("exercises"))[0]).splitlines(keepends=True)
            imports = [line for line in lines if line.startswith(("import ", "from "))]
            cells.append(nbformat.v4.new_code_cell("".join(imports)))
            cell["source"] = "".join(line for line in lines if line not in imports)
        cells.append(cell)
    return nbformat.from_dict({**notebook, "cells": cells})


@pytest.fixture(scope="module")
def made(files, tmp_path_factory):
    """A course with what students were given and handed in, graded, told and exported."""
    folder = tmp_path_factory.mktemp("made") / "course"
    assert source_notebooks.write(folder, FEW, None) == list(SOME)
    (drawn,) = re.findall(r"c\.JudgeAnswers\.seed = \d+", (folder / "nbgrader_config.py").read_text())
    configure(folder, drawn, "c.JudgeAnswers.seed = 0")  # as `records` are, whose comments show numbers
    if sandbox.unavailable():
        configure(folder, '"required"', '"off"')
    nbgrader(folder, *(("GenerateAssignmentApp", section) for section in SOME))
    for who, section in HANDED_IN:
        released = nbformat.read(folder / "release" / section / f"{section}.ipynb", 4)
        file = folder / "submitted" / who / section / f"{section}.ipynb"
        file.parent.mkdir(parents=True)
        work = fill(released, files[who])
        # Whoever deletes a test cell loses no points, and whatever else there is, is not run.
        work.cells = [cell for cell in work.cells if (who, cell.id) != ("ada", "merge_heads")]
        work.cells.append(nbformat.v4.new_code_cell("open('ran', 'w')"))
        nbformat.write(work, file)
    told = nbgrader(
        folder, *((app, s) for app in ("AutogradeApp", "GenerateFeedbackApp") for s in SOME), ("ExportApp",)
    )
    return SimpleNamespace(folder=folder, told=told, db=f"sqlite:///{folder / 'gradebook.db'}")


def test_autograding_runs_no_notebook(made):
    assert not list(made.folder.rglob("ran"))


def scores(db, who, section):
    with api.Gradebook(db) as book:
        grades = book.find_submission_notebook(section, section, who).grades
        assert not any(one.needs_manual_grade for one in grades)
        return {one.name: one.auto_score for one in grades}


def graded(records, who, section):
    return {slug: records[who].exercises[slug].score for slug in SOME[section]}


@pytest.mark.parametrize(("who", "section"), HANDED_IN)
def test_a_notebook_gets_the_scores_of_the_files(made, records, who, section):
    assert scores(made.db, who, section) == graded(records, who, section)


def test_right_partial_wrong_and_untouched_are_among_them(records):
    assert {slug: e.status for slug, e in records["bob"].exercises.items()} == {
        "describe": "todo",
        "merge_heads": "works",
        "expand_not_repeat": "failed",
        "device_agnostic": "passed",
        "first_tensor": "passed",
        "shares_of_a_row": "failed",
        "all_reduce_mean": "todo",
    }
    assert all(e.score == e.points for e in records["ada"].exercises.values())


def test_kata_grade_writes_the_same_into_this_gradebook(made, records, tmp_path):
    copy = shutil.copy(made.folder / "gradebook.db", tmp_path)
    assert gradebook.write(str(copy), records.values(), CATALOG) == []
    for who, section in HANDED_IN:
        assert scores(f"sqlite:///{copy}", who, section) == scores(made.db, who, section)
    shutil.copytree(made.folder / "source", tmp_path / "source")
    shutil.copy(made.folder / "nbgrader_config.py", tmp_path)
    for section in ("e01_tensors", "e01_tensors_steps"):
        nbgrader(tmp_path, ("GenerateAssignmentApp", section))  # which refuses where cells differ


def test_export_has_the_totals(made, records):
    with (made.folder / "grades.csv").open(newline="") as stream:
        rows = {(r["student_id"], r["assignment"]): float(r["score"]) for r in csv.DictReader(stream)}
    for who, section in HANDED_IN:
        assert rows[who, section] == pytest.approx(sum(graded(records, who, section).values()))


def test_feedback_tells_why_and_shows_no_suite(made, records):
    page = (made.folder / "feedback" / "bob" / "e01_tensors" / "e01_tensors.html").read_text()
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    message = next(c for c in records["bob"].exercises["merge_heads"].checks if c.outcome == "failed").message
    assert message.splitlines()[0] in text
    for slug in SOME["e01_tensors"]:
        for line in CATALOG.exercise(slug).file("hidden").read_text().splitlines():
            line = line.strip()
            assert len(line) < 40 or line.startswith('"""') or line not in text
    shown = text_of("e01_tensors").count("Traceback (most")
    assert text.count("Traceback (most") == shown, "none but those that the chapter explains"
    assert "docs/pictures" not in page and page.count("data:image/svg+xml") == 2


def test_feedback_tells_of_steps_too_which_weigh_nothing(made):
    page = (made.folder / "feedback" / "bob" / "e01_tensors_steps" / "e01_tensors_steps.html").read_text()
    assert "keepdim" in page and "(Score: 0.0 / 0.0)" in page


def test_students_get_the_start_and_no_more(made):
    """Of a fix, the start is the broken code."""
    released = (made.folder / "release" / "e01_tensors" / "e01_tensors.ipynb").read_bytes()
    starts = {e.slug: e.file("exercises").read_bytes() for e in FEW.sections[0].exercises}
    assert answers_in(released, CATALOG) == starts
    assert b"x.transpose(2, 3).view(" in released


@pytest.mark.slow
def test_nbgrader_alone_gives_the_same_scores(made, records, tmp_path):
    """Without our part of its configuration, nbgrader runs the notebooks: the source's and a student's."""
    folder = shutil.copytree(made.folder, tmp_path / "course", ignore=shutil.ignore_patterns("autograded"))
    text = (folder / "nbgrader_config.py").read_text()
    configure(folder, text[text.index("c.Autograde") : text.index("]\n") + 2], "")
    told = nbgrader(
        folder,
        ("AutogradeApp", "e01_tensors", "--student", "bob"),
        ("ValidateApp", "source/e01_tensors/e01_tensors.ipynb"),
    )
    assert list(folder.rglob("ran")), "this is how nbgrader itself works"
    assert "Success! Your notebook passes all the tests." in told
    assert scores(f"sqlite:///{folder / 'gradebook.db'}", "bob", "e01_tensors") == graded(
        records, "bob", "e01_tensors"
    )


@pytest.fixture
def week(made, tmp_path):
    """A gradebook with an assignment of a name of its own: an exercise, a step and somebody's essay."""
    db = f"sqlite:///{shutil.copy(made.folder / 'gradebook.db', tmp_path)}"
    with api.Gradebook(db) as book:
        place = book.add_assignment("week").name, book.add_notebook("week", "week").name
        for name in ("describe", "first_tensor", "essay"):
            book.add_grade_cell(name, *place, max_score=1, cell_type="code")
        for name in ("describe-answer", "first_tensor-answer", "essay"):
            book.add_solution_cell(name, *place)
        for name in ("describe", "describe-answer", "first_tensor", "first_tensor-answer", "essay"):
            book.add_source_cell(name, *place, cell_type="code")
    return db


def judge(db, *sources):
    """The class and the record of a student who hands in these cells."""
    from grader.classroom.nbgrader import autograder

    about = {"db_url": db, "assignment": "week", "notebook": "week", "student": "ada"}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    _, resources = autograder.JudgeAnswers(sandbox="off").preprocess(notebook, {"nbgrader": about})
    autograder.EnterScores().preprocess(notebook, resources)
    autograder._close()
    return autograder, resources["torchkata"].exercises


def test_an_assignment_may_have_a_name_of_its_own(week):
    answers = [
        f'{CATALOG.exercise(slug).file("solutions").read_text()}\ncheck("{slug}")'
        for slug in ("describe", "first_tensor")
    ]
    found = {slug: e.status for slug, e in judge(week, *answers)[1].items()}
    assert found == {"describe": "passed", "first_tensor": "passed"}
    with api.Gradebook(week) as book:
        assert book.find_grade("describe", "week", "week", "ada").auto_score == 1
        assert book.find_grade("essay", "week", "week", "ada").auto_score is None
        assert "week" in {a.name for a in book.assignments} and len(book.assignments) == len(SOME) + 1


def test_somebody_elses_test_cell_is_refused_and_not_full_marks(week):
    with api.Gradebook(week) as book:
        book.add_grade_cell("my-own", "week", "week", max_score=3, cell_type="code")
    with pytest.raises(KataError, match="my-own belongs to no exercise"):
        judge(week, "x = 1")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\n" * 100_000, "more than"),
        ("def described(x): return x", "has described, which may be meant for describe"),
        ("", "the notebook holds no answer that can be read"),
    ],
    ids=["large", "renamed", "empty"],
)
def test_a_notebook_that_cannot_be_read_waits_for_a_person_and_stops_nobody(week, source, words):
    autograder, records = judge(week, source)
    assert records["describe"].status == "not_graded"
    assert words in records["describe"].flags[0]
    for status in ("grader_fault", "not_graded"):
        (output,) = autograder._outputs(ExerciseRecord(status, 0.0, 2.0, flags=("why",)))
        assert (output.output_type, output.traceback) == ("error", ["why"]), "no output would be full marks"


def in_cells(assignment):
    """What a notebook asks for: all but folders of files."""
    return [e for e in assignment.exercises if not e.is_project]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    made = [one for one in CATALOG.assignments if in_cells(one)]
    assert source_notebooks.write(folder, CATALOG, None) == [one.name for one in made]
    return {one: nbformat.read(folder / "source" / one.name / f"{one.name}.ipynb", 4) for one in made}


def test_every_exercise_is_in_a_valid_notebook(whole):
    for section, notebook in whole.items():
        nbformat.validate(notebook)
        MetadataValidator().validate_nb(notebook)
        about = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
        points = {one["grade_id"]: one["points"] for one in about if one.get("grade")}
        assert points == {e.slug: e.points for e in in_cells(section)}
        answers = {one["grade_id"] for one in about if one.get("solution")}
        assert answers == {cell_names.answer_cell(e.slug) for e in in_cells(section)}


def test_every_released_notebook_holds_the_starts_alone(whole):
    config = Config()
    exec(source_notebooks.CONFIG.replace("{seed}", "7"), {"get_config": lambda: config})
    for section, notebook in whole.items():
        text = json.dumps(notebook)
        assert answers_in(text.encode(), CATALOG).keys() == {e.slug for e in in_cells(section)}
        released = nbformat.from_dict(json.loads(text))
        for step in (ClearSolutions, ClearHiddenTests):
            released, _ = step(config=config).preprocess(released, {})
        assert "HIDDEN" not in str(released) and "score(" not in "".join(
            cell.source for cell in released.cells if cell.metadata.get("nbgrader", {}).get("grade")
        )
        starts = {e.slug: e.file("exercises").read_bytes() for e in in_cells(section)}
        assert answers_in(json.dumps(released).encode(), CATALOG) == starts


def test_a_part_of_the_course(tmp_path):
    assert source_notebooks.write(tmp_path / "one", CATALOG, ["merge_heads"]) == ["e01_tensors"]
    (file,) = (tmp_path / "one").rglob("*.ipynb")
    assert answers_in(file.read_bytes(), CATALOG).keys() == {"merge_heads"}


def test_bad_places_are_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(KataError, match="not empty"):
            source_notebooks.write(place, CATALOG, None)
    with pytest.raises(KataError, match="cannot write"):
        source_notebooks.write(tmp_path / "file" / "below", CATALOG, None)
    assert (tmp_path / "file").read_text() == "mine"
    monkeypatch.setattr(Exercise, "file", lambda exercise, tree: tmp_path / tree)
    with pytest.raises(KataError, match="no solution of describe here"):
        source_notebooks.write(tmp_path / "new", CATALOG, ["describe"])
    assert not (tmp_path / "new").exists()
