"""An answer of many files as a suite meets it."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.plugin import failure_report, load_answer
from grader.plugin.load_answer import Answers, DoesNotImport
from tests.grader.support.project import RIGHT, content, write

FILES = {
    "__init__.py": "",
    "model.py": "from .parts import layers\n\n\ndef double(x):\n    return layers.twice(x)\n",
    "parts/__init__.py": "",
    "parts/layers.py": "def twice(x):\n    return x.foo * 2\n",
    "broken.py": "x = 1\ndef f(:\n",
    "raising.py": "from . import model\n\nraise ValueError('no')\n",
    "flat.py": "from model import double\n",
    "foreign.py": "import no_such_library\n",
}


@pytest.fixture
def exercise(tmp_path):
    made = Exercise("next_word", "e01_one", 3, "", "project", "core", 4, 1, (), (), (), "", root=tmp_path)
    yield made
    load_answer.forget(made)


@pytest.fixture
def answer(exercise, tmp_path):
    write(tmp_path / "answer", FILES)
    places = list(sys.path)
    yield load_answer.load(tmp_path / "answer", exercise)
    sys.path[:] = places


def test_files_are_imported_when_they_are_named(answer):
    assert "next_word.model" not in sys.modules
    assert answer.model.layers is answer.parts.layers


def test_a_folder_in_it_holds_files_too(answer, tmp_path):
    write(tmp_path / "answer", {"parts/late.py": "x = 1\n", "uses.py": "from . import parts, model\n"})
    assert answer.parts.late.x == answer.uses.parts.late.x == 1
    assert answer.uses.model is answer.model


def test_what_is_missing_is_named_as_the_suite_named_it(answer, exercise):
    with pytest.raises(AttributeError) as whole:
        answer.train.run()
    with pytest.raises(AttributeError) as part:
        answer.model.train()
    told = [failure_report._feedback(e, exercise, None).headline for e in (whole, part)]
    assert [line.split(" is missing")[0] for line in told] == ["`train`", "`model.train`"]


@pytest.mark.parametrize(("name", "line"), [("broken", 2), ("raising", 3)])
def test_a_file_that_does_not_import_is_named_and_the_others_are_of_use(
    answer, exercise, tmp_path, name, line
):
    with pytest.raises(DoesNotImport) as broken:
        getattr(answer, name)
    told = failure_report.import_trouble(broken.value.cause, tmp_path / "answer")
    assert told.headline == "the file does not import, so nothing that needs it can be judged"
    assert (told.where.file.rpartition("/")[2], told.where.line) == (f"{name}.py", line)
    assert callable(answer.model.double)


@pytest.mark.parametrize(("name", "likely"), [("flat", "`from .model import …`"), ("foreign", "")])
def test_an_import_that_lacks_its_dot_is_told(answer, tmp_path, name, likely):
    with pytest.raises(DoesNotImport) as broken:
        getattr(answer, name)
    told = failure_report.import_trouble(broken.value.cause, tmp_path / "answer")
    assert told.likely.endswith(likely) and bool(told.likely) == bool(likely)


def test_what_is_to_write_is_named_with_its_file(answer, tmp_path):
    write(tmp_path / "answer", {"stub.py": "def train():\n    raise NotImplementedError\n"})
    with pytest.raises(NotImplementedError) as raised:
        answer.stub.train()
    assert failure_report.is_todo(raised, tmp_path / "answer")
    told = failure_report._unwritten(raised, tmp_path / "answer")
    assert told == ("train", tmp_path / "answer/stub.py")


def test_the_innermost_file_of_the_answer_is_told(answer, exercise, tmp_path):
    with pytest.raises(AttributeError) as raised:
        answer.model.double(1)
    told = failure_report._feedback(raised, exercise, tmp_path / "answer")
    assert (told.where.file.rpartition("/")[2], told.where.line) == ("layers.py", 2)


def test_an_answer_is_loaded_afresh(answer, exercise, tmp_path):
    assert answer.model
    write(tmp_path / "answer", {"model.py": "double = 3\n"})
    write(tmp_path / "other", {"__init__.py": "", "model.py": "double = 4\n"})
    assert load_answer.load(tmp_path / "other", exercise).model.double == 4


def test_where_it_is_looked_for(exercise, tmp_path):
    write(tmp_path / "all/e01_one/next_word", FILES)
    write(tmp_path / "loose/next_word", FILES)
    (tmp_path / "file/e01_one").mkdir(parents=True)
    (tmp_path / "file/e01_one/next_word").write_text("x = 1\n")
    found = [Answers(tmp_path / name).path(exercise) for name in ("all", "loose", "file")]
    assert found == [tmp_path / "all/e01_one/next_word", tmp_path / "loose/next_word", None]
    assert Answers(found[1]).path(exercise) == found[1]


def _no_links(*_given, **_told):
    raise OSError("a required privilege is not held by the client")


@pytest.mark.parametrize("links", [True, False])
def test_it_finds_the_authors_data_beside_it(exercise, tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(Path, "symlink_to", _no_links)
    write(exercise.data, {"corpus.txt": "a b\n"})
    place = load_answer.put(content(RIGHT), exercise, tmp_path / "work")
    assert (place / "data/corpus.txt").read_text() == "a b\n"
    assert (place / "model.py").read_text() == RIGHT["model.py"]


def test_a_package_without_its_first_file_is_one_all_the_same(exercise, tmp_path):
    place = load_answer.put(content({"model.py": "x = 1\n"}), exercise, tmp_path / "work")
    assert load_answer.load(place, exercise).model.x == 1


class Unread(dict):
    """Modules whose names nobody may go through: in a forked child that copies a thousand pages."""

    def __iter__(self):
        raise AssertionError("looked at all names")


def test_of_a_file_one_name_is_forgotten(monkeypatch):
    exercise = load().exercise("merge_heads")
    modules = Unread({**sys.modules, exercise.slug: ModuleType(exercise.slug)})
    monkeypatch.setattr(sys, "modules", modules)
    load_answer.forget(exercise)
    assert exercise.slug not in modules
