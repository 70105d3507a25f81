"""What becomes in notebooks of exercises whose answers are folders."""

import json
from dataclasses import replace

import pytest

from grader.classroom.nbgrader import formgrader, gradebook, source_notebooks
from grader.classroom.submissions.class_folder import Submission
from grader.classroom.submissions.notebook import answers_in
from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.records.records import ExerciseRecord, StudentRecord
from tests.grader.support.project import RIGHT, START, WRONG, content, write

pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")
pytestmark = pytest.mark.slow

E01 = "e01_tensors"


@pytest.fixture
def catalog(tmp_path):
    made = Exercise("next_word", E01, 90, "Words", "project", "core", 4, 1, (), (), (), "", root=tmp_path)
    write(made.place("exercises"), START)
    project = replace(made, start=made.digest(content(START)))
    return Catalog((Section(E01, "Tensors", (load().exercise("merge_heads"), project)),))


@pytest.fixture
def folder(catalog, tmp_path):
    assert source_notebooks.write(tmp_path / "course", catalog, None) == [E01]
    return tmp_path / "course"


def cells(file):
    return {cell["id"]: cell for cell in json.loads(file.read_text())["cells"]}


def test_a_notebook_leaves_them_out(catalog, folder):
    file = folder / "source" / E01 / f"{E01}.ipynb"
    assert not [name for name in cells(file) if name.startswith("next_word")]
    assert answers_in(file.read_bytes(), catalog).keys() == {"merge_heads"}


def test_nothing_but_folders_makes_no_notebooks(catalog, tmp_path):
    with pytest.raises(KataError, match="a notebook holds no folders"):
        source_notebooks.write(tmp_path / "other", catalog, ["next_word"])


def enter(folder, catalog, texts, judged):
    url = str(folder / "gradebook.db")
    record = StudentRecord("ada", 0, {"next_word": ExerciseRecord("passed", 4.0, 4.0)})
    gradebook.write(url, [record], catalog)
    work = [Submission("ada", {"next_word": content(texts)} if texts else {})]
    formgrader.write(folder, work, [record], judged, catalog, gradebook.times(url))
    return cells(folder / "autograded/ada" / E01 / f"{E01}.ipynb")


def test_formgrader_shows_the_files_one_after_another(catalog, folder):
    shown = enter(folder, catalog, RIGHT, {"next_word"})
    source = "".join(shown["next_word-answer"]["source"])
    assert "# corpus.py\n" in source and RIGHT["model.py"].strip() in source
    assert shown["next_word"]["outputs"][0]["text"].startswith("4 of 4 points")


def test_what_is_not_judged_again_stays_as_it_is_shown(catalog, folder):
    before = enter(folder, catalog, WRONG, {"next_word"})["next_word-answer"]["source"]
    assert enter(folder, catalog, None, {"merge_heads"})["next_word-answer"]["source"] == before
