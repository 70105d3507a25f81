import os
import shutil
import socket
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.submissions.arrived import answered
from grader.classroom.submissions.class_folder import MAX_BYTES, Classwork, Submission, collect, escaped
from grader.classroom.submissions.io import patience
from grader.classroom.submissions.io.folders import Directory
from grader.core.errors import KataError
from grader.course.catalog import Catalog, load
from grader.course.exercise import Exercise
from tests.grader.support.little_course import CATALOG, exercise


def put(file: Path, content: bytes = b"x = 1\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def one(folder: Path) -> Submission:
    (submission,) = collect(folder, CATALOG).submissions
    return submission


def test_answers_are_read_by_slug(tmp_path):
    put(tmp_path / "ada/e01_one/ex01_first.py", b"a = 1\n")
    put(tmp_path / "ada/e02_two/ex03_third.py", "b = 'å'\n".encode())
    put(tmp_path / "bob/e01_one/ex02_second.py", b"2")
    ada, bob = collect(tmp_path, CATALOG).submissions
    assert ada == Submission("ada", {"first": b"a = 1\n", "third": "b = 'å'\n".encode()}, {}, ())
    assert bob == Submission("bob", {"second": b"2"}, {}, ())


def test_a_whole_clone_is_read_without_a_word(tmp_path):
    clone = tmp_path / "ada"
    put(clone / "exercises/e01_one/ex01_first.py", b"a = 1\n")
    for name in ("README.md", ".git/config", "grader/core/errors.py", "conftest.py", "exercises/__init__.py"):
        put(clone / name)
    for name in ("README.md", "__pycache__/x.pyc", ".DS_Store", "__init__.py"):
        put(clone / "exercises/e01_one" / name)
    assert one(tmp_path) == Submission("ada", {"first": b"a = 1\n"}, {}, ())


@pytest.mark.parametrize("around", ["exercises/", "", "week1/exercises/"])
def test_what_lies_beside_our_exercises_is_handed_in_without_a_word(tmp_path, around):
    course = load()
    put(tmp_path / f"ada/{around}e01_tensors/describe.py", b"a = 1\n")
    for name in ("e01_tensors/see.py", "e01_tensors/README.md", "symptoms/02_nan.md"):
        put(tmp_path / "ada" / around / name)
    (ada,) = collect(tmp_path, course).submissions
    assert ada.answers == {"describe": b"a = 1\n"} and not ada.notes
    put(tmp_path / f"ada/{around}e01_tensors/my_own.py")
    assert f"{around}e01_tensors/my_own.py" in " ".join(collect(tmp_path, course).submissions[0].notes)


def test_of_two_answers_the_one_outside_the_clone_counts(tmp_path):
    put(tmp_path / "ada/exercises/e01_one/ex01_first.py", b"clone\n")
    put(tmp_path / "ada/e01_one/ex01_first.py", b"direct\n")
    ada = one(tmp_path)
    assert ada.answers == {"first": b"direct\n"}
    assert ada.notes == ("not read: exercises/e01_one/ex01_first.py is a second answer",)


def test_unknown_names_are_noted_ten_at_most(tmp_path):
    put(tmp_path / "ada/e01_one/ex01_first.py")
    put(tmp_path / "ada/notes/deep/file.txt")
    for number in range(11):
        put(tmp_path / f"ada/e01_one/extra{number:02}.py")
    (note,) = one(tmp_path).notes
    assert note.startswith("no exercise's file, ignored: e01_one/extra00.py; ")
    assert note.endswith("e01_one/extra09.py; and 2 more")


LINK = "is a link, which is not followed"


def test_no_link_is_followed_at_any_level(tmp_path):
    secret = put(tmp_path / "secret/e01_one/ex01_first.py", b"secret\n")
    put(tmp_path / "secret/exercises/e01_one/ex01_first.py", b"secret\n")
    folder = tmp_path / "class"
    for student in ("a_file", "b_section", "c_clone"):
        put(folder / student / "e02_two/ex03_third.py")
    (folder / "a_file/e01_one").mkdir()
    (folder / "a_file/e01_one/ex01_first.py").symlink_to(secret)
    (folder / "a_file/e01_one/ex02_second.py").symlink_to("nowhere")
    (folder / "b_section/e01_one").symlink_to(secret.parent)
    (folder / "c_clone/exercises").symlink_to(tmp_path / "secret/exercises")
    (folder / "d_student").symlink_to(tmp_path / "secret")
    a, b, c, d = collect(folder, CATALOG).submissions
    for submission in (a, b, c):
        assert submission.answers == {"third": b"x = 1\n"}
    assert a.problems == {
        "first": f"e01_one/ex01_first.py {LINK}",
        "second": f"e01_one/ex02_second.py {LINK}",
    }
    assert b.problems == {"first": f"e01_one {LINK}", "second": f"e01_one {LINK}"}
    assert c.problems == {"first": f"exercises {LINK}", "second": f"exercises {LINK}"}
    assert d.answers == {}
    assert d.problems == dict.fromkeys(("first", "second", "third"), f"the student's folder {LINK}")
    assert a.notes == (f"not read: e01_one/ex01_first.py {LINK}; e01_one/ex02_second.py {LINK}",)
    assert all(submission.notes for submission in (b, c, d))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"x" * (MAX_BYTES + 1), "is larger than 1 MiB"),
        (b"name = '\xe5'\n", "is not UTF-8, but perhaps cp1252 (Windows); save it as UTF-8 text"),
        (b"x = 1 # \x81\n", "is not UTF-8; save it as UTF-8 text"),
        (b"# coding: cp1252\nx = '\x81'\n", "is no cp1252, though it says so; save it as UTF-8 text"),
        (b"x = 1\0\n", "holds null bytes"),
    ],
    ids=["large", "windows", "neither", "not as it says", "null"],
)
def test_a_file_that_is_no_text_is_a_problem(tmp_path, content, problem):
    put(tmp_path / "ada/e01_one/ex01_first.py", content)
    put(tmp_path / "ada/e01_one/ex02_second.py", b"x" * MAX_BYTES)
    ada = one(tmp_path)
    assert ada.problems == {"first": f"e01_one/ex01_first.py {problem}"}
    assert [*ada.answers] == ["second"]


def test_pipes_sockets_devices_and_folders_are_not_opened(tmp_path, monkeypatch):
    section = tmp_path / "ada/e01_one"
    (section / "ex02_second.py").mkdir(parents=True)
    os.mkfifo(section / "ex01_first.py")
    (tmp_path / "ada/e02_two").mkdir()
    # A socket's path has to be short.
    monkeypatch.chdir(tmp_path / "ada/e02_two")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("ex03_third.py")
        opened = []
        real = os.open
        monkeypatch.setattr(
            os, "open", lambda name, *rest, **more: opened.append(name) or real(name, *rest, **more)
        )
        ada = one(tmp_path)
    assert ada.problems == {
        "first": "e01_one/ex01_first.py is a named pipe",
        "second": "e01_one/ex02_second.py is a folder",
        "third": "e02_two/ex03_third.py is a socket",
    }
    assert opened == [tmp_path, "ada", "e01_one", "e02_two"]


def test_a_file_exchanged_for_a_link_is_not_read(tmp_path, monkeypatch):
    secret = put(tmp_path / "secret", b"secret\n")
    answer = put(tmp_path / "class/ada/e01_one/ex01_first.py")
    real = os.open

    def exchange(name, *rest, **more):
        if name == answer.name:
            answer.unlink()
            answer.symlink_to(secret)
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", exchange)
    ada = one(tmp_path / "class")
    assert ada.answers == {}
    assert "cannot be read" in ada.problems["first"]


def test_an_unreadable_file_is_a_problem_of_that_exercise_alone(tmp_path, monkeypatch):
    put(tmp_path / "ada/e01_one/ex01_first.py")
    put(tmp_path / "ada/e01_one/ex02_second.py")
    real = os.open

    def refuse(name, *rest, **more):
        if name == "ex01_first.py":
            raise PermissionError(13, "Permission denied")
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)  # permissions do not bind root
    ada = one(tmp_path)
    assert ada.problems == {"first": "e01_one/ex01_first.py cannot be read (Permission denied)"}
    assert [*ada.answers] == ["second"]


def test_an_empty_folder_is_a_student_who_handed_in_nothing(tmp_path):
    (tmp_path / "ada").mkdir()
    assert one(tmp_path) == Submission(
        "ada", notes=("holds no answers; they lie in <section>/<exercise>.py",)
    )


@pytest.mark.parametrize(
    "name", ["Lovelace, Ada", "=cmd|x", "two words", "Åsa Öberg", "-rf", "张伟", "a%s{0}"]
)
def test_odd_names_stay_as_they_are(tmp_path, name):
    put(tmp_path / name / "e01_one/ex01_first.py")
    assert one(tmp_path).student == name
    assert one(tmp_path).answers


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a\nb", r"a\nb"),
        (b"a\x1b[2J", r"a\x1b[2J"),
        (b"a\xff", r"a\udcff"),
        ("a\u202eb".encode(), r"a\u202eb"),
        (rb"a\nb", r"a\\nb"),
    ],
)
def test_names_that_cannot_be_printed_are_escaped(tmp_path, name, shown):
    put(tmp_path / os.fsdecode(name) / "e01_one/ex01_first.py")
    put(tmp_path / os.fsdecode(name) / "e01_one" / os.fsdecode(name))
    submission = one(tmp_path)
    assert submission.student == escaped(os.fsdecode(name)) == shown
    assert submission.answers
    assert submission.notes == (f"no exercise's file, ignored: e01_one/{shown}",)


def test_files_beside_the_students_are_noted(tmp_path):
    put(tmp_path / "ada/e01_one/ex01_first.py")
    for name in ("roster.csv", "README.md", ".hidden", ".git/config", "__pycache__/x.pyc"):
        put(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    work = collect(tmp_path, CATALOG)
    assert isinstance(work, Classwork)
    assert [s.student for s in work.submissions] == ["ada"]
    assert work.notes == ("no student's folder, ignored: pipe; roster.csv",)


def test_a_students_folder_that_begins_with_a_dot_is_told(tmp_path):
    for name in ("ada", ".bob", ".git", ".ipynb_checkpoints"):
        put(tmp_path / name / CATALOG.exercises[0].relative)
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "._cy.zip").touch()
    (tmp_path / ".cy.zip").touch()
    work = collect(tmp_path, CATALOG)
    assert [s.student for s in work.submissions] == ["ada"]
    assert work.notes == ("begins with a dot, not read: .bob; .cy.zip",)
    shutil.rmtree(tmp_path / "ada")
    with pytest.raises(KataError, match=r"holds no student's folder \(begins with a dot, not read: \.bob; "):
        collect(tmp_path, CATALOG)


@pytest.mark.parametrize("trouble", ["missing", "file", "empty", "dotted"])
def test_a_folder_that_is_no_class_is_one_line(tmp_path, trouble):
    folder = tmp_path / "class"
    if trouble == "file":
        put(folder)
    elif trouble != "missing":
        folder.mkdir()
    if trouble == "dotted":
        put(folder / ".git/config")
    words = {
        "missing": "No such file",
        "file": "Not a directory",
        "empty": "no student's",
        "dotted": "no student's",
    }
    with pytest.raises(KataError, match=words[trouble]) as told:
        collect(folder, CATALOG)
    assert "\n" not in str(told.value)


def step(slug: str, order: int) -> Exercise:
    return replace(exercise(slug, "e01_one", order), path="first", points=0)


STEPPED = Catalog(
    (
        replace(
            CATALOG.sections[0], exercises=(step("dice", 1), step("rows", 2), *CATALOG.sections[0].exercises)
        ),
        CATALOG.sections[1],
    )
)


@pytest.mark.parametrize(
    "place",
    [
        "ada/e01_one/steps/s02_rows.py",
        "ada/exercises/e01_one/steps/s02_rows.py",
        "ada/steps/s02_rows.py",
        "ada/steps/s02_rows (1).py",
        "ada/s02_rows.py",
        "ada/e01_one_steps/s02_rows.py",
    ],
)
def test_a_step_is_read_wherever_it_lies(tmp_path, place):
    file = put(tmp_path / "class" / place, b"a = 1\n")
    wanted = Submission("ada", {"rows": b"a = 1\n"})
    put(file.parent / "steps.toml")
    assert collect(tmp_path / "class", STEPPED).submissions == (wanted,)
    (alone,) = collect(tmp_path / "class" / "ada", STEPPED).submissions
    assert alone == wanted
    with tarfile.open(tmp_path / "class.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "class", "class")
    assert collect(tmp_path / "class.tar.gz", STEPPED).submissions == (wanted,)


def test_steps_alone_may_be_named(tmp_path):
    for folder in ("ada/e01_one/steps", "ada/steps", "ada/e01_one_steps"):
        put(tmp_path / folder / "s01_dice.py", b"a = 1\n")
        found = collect(tmp_path / folder, STEPPED)
        assert found.is_one and found.submissions == (Submission("ada", {"dice": b"a = 1\n"}),)


def test_a_linked_folder_of_steps_is_told_and_not_followed(tmp_path):
    put(tmp_path / "secret" / "s01_dice.py")
    put(tmp_path / "ada/e01_one/ex01_first.py")
    (tmp_path / "ada/e01_one/steps").symlink_to(tmp_path / "secret")
    (ada,) = (s for s in collect(tmp_path, STEPPED).submissions if s.student == "ada")
    assert ada.answers.keys() == {"first"}
    assert any("e01_one/steps" in note for note in ada.notes)


def test_nbgrader_times_steps_by_themselves(tmp_path):
    course = tmp_path / "course"
    put(course / "source/e01_one/e01_one.ipynb")
    for name, file in (("e01_one", "ex01_first.py"), ("e01_one_steps", "s01_dice.py")):
        put(course / "submitted/ada" / name / file)
        put(course / "submitted/ada" / name / "timestamp.txt", f"time of {name}".encode())
    (ada,) = collect(course, STEPPED).submissions
    assert ada.times == {"e01_one": "time of e01_one", "e01_one_steps": "time of e01_one_steps"}
    assert {*answered(ada, STEPPED.exercises)} == {"e01_one", "e01_one_steps"}


@pytest.mark.parametrize(
    "name",
    [
        *("first.py", "ex07_first.py", "EX01_First.py", "ex01_first - Copy.py", "ex01_first - Copy (2).py"),
        *("ex01_first (1).py", "first_final_v2.py", "ex01-first.py", "ex01_first.py.txt", "First Kopie.py"),
    ],
)
def test_a_file_that_is_nearly_called_so_is_read_with_a_note(tmp_path, name):
    put(tmp_path / "ada" / "e01_one" / name, b"a = 1\n")
    ada = one(tmp_path)
    assert ada.answers == {"first": b"a = 1\n"}
    told = f"read: e01_one/{name} taken for first.py"
    assert ada.notes == (() if name in ("first.py", "ex07_first.py", "ex01_first (1).py") else (told,))


@pytest.mark.parametrize(
    ("files", "problems"),
    [
        ({"e02_two/hw.pdf": b"%PDF"}, {"third": "no answer can be read in e02_two/hw.pdf"}),
        ({"e02_two.pdf": b"%PDF", "b.png": b"", "e01_one.txt": b""}, {"third": "read in e02_two.pdf"}),
        ({"e02_two/e02_two.ipynb": b"{"}, {"third": "is not read: the notebook is not JSON"}),
        ({"hw.ipynb": b"{"}, {"second": "hw.ipynb is not read", "third": "hw.ipynb is not read"}),
        ({"e02_two/README.md": b""}, {}),
        ({"b.zip": b"7z\xbc\xaf"}, {"second": "is a 7z archive", "third": "is a 7z archive"}),
    ],
    ids=range(6),
)
def test_what_may_hold_an_answer_is_a_problem_of_what_it_may_be_meant_for(tmp_path, files, problems):
    put(tmp_path / "ada" / "e01_one" / "ex01_first.py")
    for name, content in files.items():
        put(tmp_path / "ada" / name, content)
    ada = one(tmp_path)
    assert [*ada.answers] == ["first"] and ada.problems.keys() == problems.keys()
    assert all(words in ada.problems[slug] for slug, words in problems.items())
    assert ("third" in ada.meant) == ("e02_two" in " ".join(ada.problems.values()))


def defining(*names: str) -> str:
    return "".join(f"def {name}(): 1\n" for name in names)


BOTH = ("scores", "outer", "bilinear", "swapped", "product")


@pytest.mark.parametrize(
    ("texts", "answered", "asked"),
    [
        ({"a.py": defining("scores", "outer", "bilinear")}, {"batched_matmul"}, set()),
        ({"a.py": defining("outer")}, set(), {"batched_matmul", "einsum_letters"}),
        ({"a.py": defining(*BOTH)}, set(), {"batched_matmul", "einsum_letters"}),
        ({"a.py": defining("predict", "helper")}, {"predict"}, set()),
        ({"e09_debugging/a.py": defining("predict")}, set(), {"double_softmax", "dtype_and_device_mismatch"}),
        ({"a.py": "class merge_heads: 1", "merge_heads.py": "x"}, {"merge_heads"}, set()),
        ({"a.py": f"from x import merge_heads\ndouble = 1\n{defining('describe')}"}, {"describe"}, set()),
        ({"a.py": defining("describe"), "b/a.py": defining("describe")}, {"describe"}, set()),
        ({"a.py": defining("describe"), "b/a.py": "class describe: 1"}, set(), {"describe"}),
        ({"a.py": "def " * 9000 + "merge_heads("}, set(), set()),
        ({f"{n}.py": f"def describe(): {n}" for n in range(60)}, set(), {e.slug for e in load().exercises}),
    ],
    ids=range(11),
)
def test_python_of_another_name_is_read_where_it_is_certain_what_it_answers(tmp_path, texts, answered, asked):
    for name, text in texts.items():
        put(tmp_path / "ada" / name, text.encode())
    put(tmp_path / "ada" / "coordinate_grid.py")
    (ada,) = collect(tmp_path, load()).submissions
    assert ada.answers.keys() - {"coordinate_grid"} == answered
    assert ada.problems.keys() == asked - {"coordinate_grid"}


def test_reading_takes_no_longer_than_it_may_and_costs_nobody_else(tmp_path, monkeypatch):
    for student in ("ada", "bob"):
        put(tmp_path / student / "e01_one" / "ex01_first.py")
    put(tmp_path / "ada" / "e02_two" / "ex03_third.py")
    monkeypatch.setattr(patience, "SECONDS", 0.2)
    kinds = Directory.kinds

    def endless(folder):
        found = kinds(folder)
        while "ex03_third.py" in found:
            pass
        return found

    monkeypatch.setattr(Directory, "kinds", endless)
    ada, bob = collect(tmp_path, CATALOG).submissions
    assert bob == Submission("bob", {"first": b"x = 1\n"})
    assert ada.answers == {"first": b"x = 1\n"}
    assert ada.problems == dict.fromkeys(("second", "third"), f"the hand-in {LONG}")
    assert f"not read: the hand-in {LONG}" in ada.notes


LONG = "takes more than 0.2 s to read; hand in your answers alone"


@pytest.mark.parametrize(
    "piece", ["_copy_1", "_copy", "(1)", "-1", "_12_", "_late_1", "_assignsubmission_file_"]
)
def test_no_name_takes_long_to_read(tmp_path, piece):
    name = f"ex01_first{piece * (230 // len(piece))}"
    started = time.process_time()
    for ending in ("", "x.py", ".ipynb", "!.zip"):
        put(tmp_path / "ada" / (name + ending))
        put(tmp_path / (name + ending) / "x.py")
    collect(tmp_path, CATALOG)
    assert time.process_time() - started < 10, "seconds of work, not of waiting: no endless search"


@pytest.mark.parametrize(
    "name", ["first_test.py", "firstly.py", "my_first.py", "first.txt", "test_ex01_first.py"]
)
def test_a_file_that_is_called_otherwise_is_ignored(tmp_path, name):
    put(tmp_path / "ada" / "e01_one" / name, b"a = 1\n")
    put(tmp_path / "ada" / "e01_one" / "ex02_second.py", b"a = 2\n")
    ada = one(tmp_path)
    assert ada.answers == {"second": b"a = 2\n"} and name in ada.notes[0]


def test_a_file_by_its_own_name_counts_before_one_that_means_it(tmp_path):
    put(tmp_path / "ada" / "e01_one" / "First.py", b"a = 1\n")
    put(tmp_path / "ada" / "e01_one" / "ex01_first.py", b"a = 2\n")
    ada = one(tmp_path)
    assert ada.answers == {"first": b"a = 2\n"} and "First.py is a second answer" in ada.notes[0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("name = 'å'\n".encode("utf-16"), "UTF-16"),
        ("# -*- coding: cp1252 -*-\nname = 'å'\n".encode("cp1252"), "cp1252"),
    ],
)
def test_a_text_that_says_what_it_is_is_read(tmp_path, content, told):
    put(tmp_path / "ada/e01_one/ex01_first.py", content)
    ada = one(tmp_path)
    assert ada.answers["first"].decode().endswith("name = 'å'\n")
    assert told not in ada.answers["first"].decode()
    assert ada.notes == (f"read: e01_one/ex01_first.py which is {told}",)
    names: dict[str, str] = {}
    exec(compile(ada.answers["first"], "answer", "exec"), names)
    assert names["name"] == "å"
