"""An answer that is a folder: what of it counts, how it is known again, and answers made from it."""

from dataclasses import replace

import pytest

from grader.core.errors import KataError
from grader.core.packed import packed, unpacked
from grader.course import project
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise
from grader.course.rows import read
from grader.course.specimens import parsed
from tests.grader.support.project import RIGHT, START, content, write


@pytest.fixture
def exercise(tmp_path):
    made = Exercise("next_word", "e01_one", 3, "", "project", "core", 4, 1, (), (), (), "", root=tmp_path)
    write(made.place("exercises"), {**START, "data/corpus.txt": "a b\n"})
    write(made.place("solutions"), RIGHT)
    return replace(made, start=made.digest(made.content("exercises")))


def test_its_places(exercise, tmp_path):
    assert exercise.relative == "e01_one/next_word"
    assert exercise.place("solutions") == tmp_path / "solutions/e01_one/next_word"
    assert exercise.file("exercises") == tmp_path / "exercises/e01_one/next_word/__init__.py"
    assert exercise.file("hidden") == tmp_path / "tests/hidden/e01_one/test_next_word.py"


@pytest.mark.parametrize("name", ["next_word", "ex03", "e01/next_word/", "e01_one/next_word/model.py"])
def test_a_file_of_it_means_it(exercise, name):
    assert Catalog((Section("e01_one", "One", (exercise,)),)).find(name) is exercise


def test_only_what_a_person_wrote_counts(exercise):
    folder = exercise.place("exercises")
    write(
        folder,
        {
            "more/layers.py": "x = 1\n",
            "more/data/kept.txt": "kept",
            "__pycache__/model.pyc": "",
            ".git/config": "",
            ".ipynb_checkpoints/model.py": "",
            "checkpoint.pt": "x" * (project.MOST_BYTES + 1),
        },
    )
    (folder / "linked.py").symlink_to(folder / "model.py")
    held = unpacked(exercise.content("exercises"))
    assert held.keys() == {*START, "more/layers.py", "more/data/kept.txt"}


def test_a_start_is_known_whatever_an_editor_did_to_its_line_ends(exercise):
    windows = {name: text.replace("\n", "\r\n") + "\r\n" for name, text in START.items()}
    assert exercise.is_start(packed({name: text.encode() for name, text in windows.items()}))


@pytest.mark.parametrize("change", [{"more.py": ""}, {"model.py": "x = 1\n"}, {"model.py": None}])
def test_what_differs_from_the_start_in_a_file_is_an_answer(exercise, change):
    changed = {name: text for name, text in {**START, **change}.items() if text is not None}
    assert not exercise.is_start(content(changed))


def test_as_a_text_the_statement_comes_first(exercise):
    lines = exercise.text(content({**START, "a.py": "x = 1\n", "b.json": "{}"})).splitlines()
    assert [line for line in lines if line.startswith("# ")] == [
        *("# __init__.py", "# a.py", "# corpus.py", "# model.py")
    ]


def test_data_and_shared_fixtures_are_what_its_suites_rely_on(exercise):
    write(exercise.root, {name: "" for name in ("conftest.py", "tests/conftest.py")})
    shared = [exercise.root / "tests" / name / "conftest.py" for name in ("public", "hidden/e01_one")]
    for file in shared:
        write(file.parent, {file.name: ""})
    assert exercise.beside == (*shared, exercise.data / "corpus.txt")


def answer(exercise, body):
    (one,) = parsed(f"right: other\n{body}\n", "here")
    return one.content(exercise)


def test_an_edit_is_made_where_its_text_occurs(exercise):
    made = unpacked(answer(exercise, "- row / row.sum()\n+ row"))
    assert made["model.py"].endswith(b"return row\n")
    assert made["corpus.py"] == RIGHT["corpus.py"].encode()


def test_a_text_that_occurs_in_two_files_is_no_edit(exercise):
    with pytest.raises(KataError, match="here:1: 'return' occurs 2 times in the solution's files, not once"):
        answer(exercise, "- return")


def test_what_is_written_out_holds_files_in_the_place_of_the_solutions(exercise):
    made = unpacked(answer(exercise, "@ corpus.py\n| x = 1\n@ new.py\n|"))
    assert made == {**unpacked(content(RIGHT)), "corpus.py": b"x = 1\n", "new.py": b"\n"}


def test_a_kind_that_is_none_is_told(tmp_path):
    write(tmp_path / "e01_one", {"section.toml": 'title = "One"\n[exercise.first]\nkind = "projct"\n'})
    with pytest.raises(KataError, match=r"has kind = .projct.; say one of build, fix, project"):
        read(tmp_path)
