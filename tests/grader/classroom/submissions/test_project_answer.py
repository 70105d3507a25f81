"""Answers that are folders, as students hand them in."""

import os
import shutil
import tarfile
import zipfile
from dataclasses import replace

import pytest

from grader.classroom.submissions.class_folder import MAX_BYTES, collect
from grader.core.packed import unpacked
from grader.course import project
from grader.course.catalog import Catalog, Section
from tests.grader.classroom.submissions.test_class_folder import put
from tests.grader.classroom.suite.courses import lay
from tests.grader.support.little_course import exercise

FILES = {"__init__.py": b"", "model.py": b"x = 1\n", "vocabulary.json": b"{}", "parts/layer.py": b"y = 2\n"}
SMALL = replace(exercise("small_lm", "e01_one", 2), kind="project")
CATALOG = Catalog((Section("e01_one", "One", (exercise("first", "e01_one", 1), SMALL)),))


def hand_in(folder, files=FILES):
    for name, content in files.items():
        put(folder / name, content)


def one(folder):
    (submission,) = collect(folder, CATALOG).submissions
    return submission


def answered(submission):
    return unpacked(submission.answers["small_lm"])


@pytest.mark.parametrize(
    "place", ["e01_one/ex02_small_lm", "ex02_small_lm", "small_lm", "exercises/e01_one/ex02_small_lm"]
)
def test_it_is_found_by_its_name(tmp_path, place):
    hand_in(tmp_path / "ada" / place)
    put(tmp_path / "ada/e01_one/ex01_first.py")
    assert answered(one(tmp_path)) == FILES
    assert one(tmp_path).answers.keys() == {"first", "small_lm"}


def test_another_name_is_told(tmp_path):
    hand_in(tmp_path / "ada/Small-LM final")
    assert one(tmp_path).notes == ("read: Small-LM final taken for small_lm",)


@pytest.mark.parametrize("inside", ["", "ex02_small_lm", "ex02_small_lm/ex02_small_lm"])
@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_an_archive_of_it_is_read(tmp_path, inside, kind):
    hand_in(tmp_path / "made" / inside)
    shutil.make_archive(str(tmp_path / "class/ada/ex02_small_lm"), kind, tmp_path / "made")
    assert answered(one(tmp_path / "class")) == FILES
    assert one(tmp_path / "class").notes == ()


def test_one_students_work_may_be_named(tmp_path):
    hand_in(tmp_path / "ada/ex02_small_lm")
    work = collect(tmp_path / "ada", CATALOG)
    assert work.is_one and answered(work.submissions[0]) == FILES


def test_the_authors_data_and_what_tools_leave_is_not_read(tmp_path):
    left = {"data/corpus.txt": b"mine", "__pycache__/m.pyc": b"", ".git/config": b"", ".DS_Store": b""}
    hand_in(tmp_path / "ada/small_lm", {**FILES, **left})
    assert answered(one(tmp_path)) == FILES


def test_what_is_too_large_is_told_and_the_rest_is_read(tmp_path):
    hand_in(tmp_path / "ada/ex02_small_lm", {**FILES, "model.pt": b"x" * (MAX_BYTES + 1)})
    assert answered(one(tmp_path)) == FILES
    assert one(tmp_path).notes == ("not read: ex02_small_lm/model.pt is larger than 1 MiB",)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_no_link_is_followed(tmp_path):
    secret = put(tmp_path / "secret.py", b"secret = 1\n")
    hand_in(tmp_path / "class/ada/ex02_small_lm")
    (tmp_path / "class/ada/ex02_small_lm/stolen.txt").symlink_to(secret)
    assert answered(one(tmp_path / "class")) == FILES
    assert "stolen.txt is a link" in one(tmp_path / "class").notes[0]


def refused(files):
    return lambda folder: hand_in(folder / "ex02_small_lm", files)


@pytest.mark.parametrize(
    ("hand_in", "why"),
    [
        (lambda home: put(home / "ex02_small_lm.py"), "is a file; hand in the folder small_lm with all"),
        (lambda home: put(home / "small_lm.py"), "is a file; hand in the folder small_lm with all"),
        (lambda home: (home / "ex02_small_lm").mkdir(parents=True), "holds no Python file"),
        (refused({f"f{n}.py": b"" for n in range(project.MOST_FILES + 1)}), "more than 200 files"),
        (refused({f"f{n}.py": b"#" * MAX_BYTES for n in range(17)}), "holds more than 16 MiB"),
        (
            refused({**FILES, "parts/layer.py": "å".encode("cp1252")}),
            "holds parts/layer.py, which is not UTF-8, but perhaps cp1252",
        ),
        (
            refused({**FILES, "model.py": b"#" * (MAX_BYTES + 1)}),
            "holds model.py, which is larger than 1 MiB",
        ),
        (refused({"/".join("abcdefghij") + ".py": b"", "x.py": b""}), "folders that lie too deep"),
    ],
)
def test_what_is_no_answer_is_left_to_a_person(tmp_path, hand_in, why):
    hand_in(tmp_path / "ada")
    found = one(tmp_path)
    assert not found.answers
    assert why in found.problems["small_lm"]


def test_code_in_utf_16_is_read(tmp_path):
    hand_in(tmp_path / "ada/ex02_small_lm", {**FILES, "model.py": "x = 'å'\n".encode("utf-16")})
    assert answered(one(tmp_path)) == {**FILES, "model.py": "x = 'å'\n".encode()}


def test_a_tarball_of_the_class_is_read(tmp_path):
    for student in ("ada", "bob"):
        hand_in(tmp_path / "class" / student / "ex02_small_lm")
    shutil.make_archive(str(tmp_path / "class"), "gztar", tmp_path / "class")
    found = collect(tmp_path / "class.tar.gz", CATALOG).submissions
    assert [answered(one) for one in found] == [FILES, FILES]


def test_a_name_that_is_no_text_is_left_out(tmp_path):
    hand_in(tmp_path / "ada/ex02_small_lm")
    (tmp_path / "ada/ex02_small_lm" / os.fsdecode(b"\xff.txt")).write_text("x")
    assert answered(one(tmp_path)) == FILES
    assert one(tmp_path).notes == (r"not read: ex02_small_lm/\udcff.txt has a name that is no text",)


def test_what_no_folder_can_hold_is_left_out(tmp_path):
    """It could not be written where it is judged, and nobody would be judged for it."""
    with zipfile.ZipFile(put(tmp_path / "ada/ex02_small_lm.zip"), "w") as made:
        for name, content in [*FILES.items(), (f"{'ü' * 130}.py", b""), ("parts/__init__.py/x.py", b"")]:
            made.writestr(name, content)
    submission = one(tmp_path)
    assert answered(submission) == FILES
    assert [note.rpartition(" has ")[2] for note in submission.notes if " has " in note] == [
        "a name that is too long"
    ]
    assert any("parts/__init__.py is a folder" in note for note in submission.notes)


def test_an_archive_that_leads_out_is_told(tmp_path):
    hand_in(tmp_path / "made")
    (tmp_path / "class/ada").mkdir(parents=True)
    with tarfile.open(tmp_path / "class/ada/small_lm.tar", "w") as archive:
        archive.add(tmp_path / "made/model.py", "small_lm/model.py")
        archive.add(tmp_path / "made/model.py", "../../stolen.py")
    assert answered(one(tmp_path / "class")) == {"model.py": b"x = 1\n"}
    assert "leads out of the archive" in one(tmp_path / "class").notes[0]


def test_files_without_their_folder_are_read_where_they_fit_one_project_alone(tmp_path):
    start = {"__init__.py": "", "model.py": "", "reading.py": "", "parts/layer.py": ""}
    lay(tmp_path / "exercises/e01_one/small_lm", start)
    catalog = Catalog((Section("e01_one", "One", (replace(SMALL, root=tmp_path),)),))
    whole = {"model.py": b"x = 1\n", "reading.py": b"y = 2\n", "helper.py": b""}
    hand_in(tmp_path / "class/ada", whole)
    hand_in(tmp_path / "class/Bob Bo_12_assignsubmission_file_", whole)
    hand_in(tmp_path / "class/cyn", {"model.py": b"x = 1\n"})
    ada, bob, cyn = sorted(collect(tmp_path / "class", catalog).submissions, key=lambda s: s.student.lower())
    assert answered(ada) == answered(bob) == whole
    assert ada.notes == ("read: all files taken for small_lm",)
    assert not cyn.answers and "no exercise's file, ignored: model.py" in cyn.notes
