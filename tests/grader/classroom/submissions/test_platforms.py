"""What Canvas, Moodle, GitHub Classroom and nbgrader hand out, read as it comes."""

import json
from pathlib import Path

import pytest

from grader.classroom.submissions.class_folder import Submission, collect
from grader.classroom.submissions.platforms import Origin, of_archive, of_file, of_folder, original
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from tests.grader.classroom.submissions.test_archives import FIRST, SECOND, zipped
from tests.grader.classroom.submissions.test_class_folder import put
from tests.grader.support.little_course import CATALOG

THIRD = "e02_two/ex03_third.py"


def students(folder: Path) -> dict[str, Submission]:
    return {s.student: s for s in collect(folder, CATALOG).submissions}


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("lovelaceada_12_345_work.zip", Origin("lovelaceada_12", "work.zip", False, 345, "canvas")),
        ("lovelaceada_LATE_12_345_a.py", Origin("lovelaceada_12", "a.py", True, 345, "canvas")),
        ("lovelace_late_12_345_a.py", Origin("lovelace_12", "a.py", True, 345, "canvas")),
        ("öbergåsa_12_345_1_2_x.py", Origin("öbergåsa_12", "1_2_x.py", False, 345, "canvas")),
        ("anon_Ab1cD_345_a.py", Origin("anon_Ab1cD", "a.py", False, 345, "canvas")),
        ("LATE_anon_Ab1cD_345_a.py", Origin("anon_Ab1cD", "a.py", True, 345, "canvas")),
        ("lovelaceada_12_text.html", Origin("lovelaceada_12", "text.html", False, 0, "canvas")),
        (
            "Ada Lovelace_12_assignsubmission_file_a.py",
            Origin("Ada Lovelace_12", "a.py", platform="moodle"),
        ),
        ("merge_heads.py", None),
        ("ada.zip", None),
        ("report_2024.zip", None),
    ],
)
def test_a_files_name_tells_whose_it_is(name, origin):
    assert of_file(name) == origin


@pytest.mark.parametrize(
    ("name", "parent", "student"),
    [
        ("Ada Lovelace_12_assignsubmission_file_", "class", "Ada Lovelace_12"),
        ("Ada Lovelace_12_assignsubmission_file", "class", "Ada Lovelace_12"),
        ("Participant_7_assignsubmission_onlinetext", "class", "Participant_7"),
        ("lab-1-ada-l", "lab-1-submissions", "ada-l"),
        ("lab-1-ada-l", "class", "lab-1-ada-l"),
        ("van-dyke", "van-submissions", "dyke"),
        ("ada", "lab-submissions", "ada"),
        ("Lovelace, Ada", "submitted", "Lovelace, Ada"),
    ],
)
def test_a_folders_name_tells_whose_it_is(name, parent, student):
    assert of_folder(name, parent).student == student
    assert of_archive(f"{name}.zip", parent).student == student


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a.py", ("a.py", 0)),
        ("a-2.py", ("a.py", 2)),
        ("a (3).py", ("a.py", 3)),
        ("a-2 (1).py", ("a.py", 3)),
        ("a-12.tar.gz", ("a-12.tar.gz", 0)),
        ("-1.py", ("-1.py", 0)),
    ],
)
def test_a_copys_number_is_known(name, known):
    assert original(name) == known


CANVAS = {
    "lovelaceada_12_345_work.zip": zipped((f"work/{FIRST}", b"ada\n"), (SECOND, b"ada\n")),
    "boolegeorge_LATE_13_346_ex01_first.py": b"old\n",
    "boolegeorge_LATE_13_350_ex01_first-2.py": b"newest\n",
    "boolegeorge_LATE_13_348_ex01_first-1.py": b"newer\n",
    "boolegeorge_LATE_13_347_ex03_third.py": b"boole\n",
    "hopper_14_351_essay.docx": b"",
    "gauss_15_text.html": b"<p>see my zip</p>",
    "noether_16_352_work.zip": b"PK\x03\x04 broken",
}


def check_canvas(found: dict[str, Submission]) -> None:
    assert found["lovelaceada_12"] == Submission(
        "lovelaceada_12", {"first": b"ada\n", "second": b"ada\n"}, late=False
    )
    boole = found["boolegeorge_13"]
    assert boole.answers == {"first": b"newest\n", "third": b"boole\n"}
    assert boole.late is True
    assert boole.notes == (
        "not read: ex01_first-1.py is a second answer; ex01_first.py is a second answer",
        "handed in late: e01_one, e02_two",
    )
    assert found["hopper_14"].notes[-1] == "no exercise's file, ignored: essay.docx"
    assert found["gauss_15"].notes[-1] == "no exercise's file, ignored: text.html"
    assert "is no archive" in found["noether_16"].problems["first"]
    assert len(found) == 5


@pytest.mark.parametrize("form", ["folder", "zip", "wrapped zip"])
def test_canvas(tmp_path, form):
    if form == "folder":
        for name, content in CANVAS.items():
            put(tmp_path / name, content)
        check_canvas(students(tmp_path))
        return
    prefix = "hw1 submissions/" if form == "wrapped zip" else ""
    download = put(
        tmp_path / "submissions.zip", zipped(*((prefix + name, text) for name, text in CANVAS.items()))
    )
    check_canvas(students(download))


MOODLE = {
    f"Ada Lovelace_12_assignsubmission_file_/{FIRST}": b"ada\n",
    "Ada Lovelace_12_assignsubmission_onlinetext/onlinetext.html": b"hello",
    "George Boole_13_assignsubmission_file_/ex01_first.py": b"loose\n",
    "George Boole_13_assignsubmission_file_/more.zip": zipped((SECOND, b"zipped\n")),
    "Grace Hopper_14_assignsubmission_file_ex03_third.py": b"no folders\n",
}


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_moodle(tmp_path, form):
    download = tmp_path / "course-Week 1-1234.zip"
    if form == "folder":
        for name, content in MOODLE.items():
            put(tmp_path / name, content)
    else:
        put(download, zipped(*MOODLE.items()))
    found = students(download if form == "zip" else tmp_path)
    assert found == {
        "Ada Lovelace_12": Submission(
            "Ada Lovelace_12", {"first": b"ada\n"}, {}, ("no exercise's file, ignored: onlinetext.html",)
        ),
        "George Boole_13": Submission("George Boole_13", {"first": b"loose\n", "second": b"zipped\n"}),
        "Grace Hopper_14": Submission("Grace Hopper_14", {"third": b"no folders\n"}),
    }


def test_github_classroom(tmp_path):
    for user in ("ada", "bo-ole"):
        clone = tmp_path / "week1-submissions" / f"week1-{user}"
        put(clone / "exercises" / FIRST, user.encode())
        put(clone / ".git" / FIRST, b"not this\n")
        put(clone / "tests" / "public" / "e01_one" / "test_ex01_first.py")
    found = students(tmp_path / "week1-submissions")
    assert found == {user: Submission(user, {"first": user.encode()}) for user in ("ada", "bo-ole")}
    alone = collect(tmp_path / "week1-submissions" / "week1-ada", CATALOG)
    assert [s.student for s in alone.submissions] == ["ada"]


def notebook(*cells: str) -> bytes:
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


def test_nbgrader(tmp_path):
    time = b"2026-01-02 03:04:05.678901 UTC"
    submitted = tmp_path / "course" / "submitted"
    put(submitted / "ada" / FIRST, b"ada\n")
    put(submitted / "ada" / "e01_one" / "timestamp.txt", time + b"\n")
    put(submitted / "bob" / "ps1" / "e02_two" / "ex03_third.py", b"bob\n")
    put(submitted / "bob" / "ps1" / "ex02_second.py", b"bob\n")
    put(submitted / "bob" / "ps1" / "timestamp.txt", time)
    put(tmp_path / "course" / "gradebook.db")
    put(tmp_path / "course" / "source" / "e01_one" / "e01_one.ipynb")
    for folder in (submitted, tmp_path / "course"):
        found = students(folder)
        assert found["ada"] == Submission("ada", {"first": b"ada\n"}, times={"e01_one": time.decode()})
        assert found["bob"].answers == {"third": b"bob\n", "second": b"bob\n"}
        assert found["bob"].times == dict.fromkeys(("e01_one", "e02_two"), time.decode())
        assert found["bob"].notes == ()


@pytest.mark.parametrize(
    "place",
    [
        "class/ada/e01_one",  # not nbgrader's tree
        "submitted/ada/exercises/e01_one",
        "submitted/Ada_12_assignsubmission_file_/e01_one",
    ],
)
def test_a_time_that_a_student_could_have_written_counts_for_nothing(tmp_path, place):
    put(tmp_path / place / "ex01_first.py")
    put(tmp_path / place / "timestamp.txt", b"1999-01-01 00:00:00 UTC")
    (one,) = collect(tmp_path / place.split("/")[0], CATALOG).submissions
    assert (one.answers, one.times) == ({"first": b"x = 1\n"}, {})
    put(tmp_path / "submitted" / "eve.zip", zipped((FIRST, b"e\n"), ("e01_one/timestamp.txt", b"1999")))
    assert students(tmp_path / "submitted")["eve"].times == {}


def test_notebooks_are_read_after_files(tmp_path, monkeypatch):
    from grader.classroom.submissions import decode
    from grader.classroom.submissions.notebook import NotebookAnswers

    def held(content, catalog, known):
        if content == b"broken":
            raise KataError("it is no JSON")
        slugs = {e.slug for e in catalog.exercises}
        return NotebookAnswers(
            {slug: b"from a cell\n" for slug in ("first", "second", "third") if slug in slugs}
        )

    monkeypatch.setattr(decode, "held", held)
    put(tmp_path / "ada" / FIRST, b"from a file\n")
    put(tmp_path / "ada" / "e01_one" / "e01_one.ipynb", b"{}")
    put(tmp_path / "ada" / "e01_one" / ".ipynb_checkpoints" / "e01_one.ipynb", b"{}")
    put(tmp_path / "lovelaceada_12_345_all of it.ipynb", b"{}")
    put(tmp_path / "bob.zip", zipped(("ps1/e02_two-1.ipynb", b"{}"), ("ps1/x.ipynb", b"broken")))
    found = students(tmp_path)
    assert found["ada"].answers == {"first": b"from a file\n", "second": b"from a cell\n"}
    assert [*found["lovelaceada_12"].answers] == ["first", "second", "third"]
    assert [*found["bob"].answers] == ["third"]
    assert found["bob"].notes == ("not read: bob.zip/ps1/x.ipynb is not read: it is no JSON",)


def test_a_students_archive_cannot_speak_for_others(tmp_path):
    forged = zipped(("boolegeorge_13_999_ex01_first.py", b"forged\n"), (SECOND, b"own\n"))
    put(tmp_path / "ada.zip", forged)
    put(tmp_path / "boolegeorge_13_1_ex01_first.py", b"boole\n")
    found = students(tmp_path)
    assert found["boolegeorge_13"].answers == {"first": b"boole\n"}
    assert [*found] == ["ada", "boolegeorge_13"]
    put(tmp_path / "late" / "ada.zip", forged)
    with pytest.raises(KataError, match=r"name that: .*late/ada\.zip"):
        collect(tmp_path / "late", CATALOG)


@pytest.mark.parametrize("name", ["CS_101_2026_Week_1_submissions.zip", "lovelaceada_12_5_work.zip"])
def test_a_class_in_an_archive_that_is_named_like_one_students_is_not_read(tmp_path, name):
    put(tmp_path / name, zipped(*CANVAS.items()))
    with pytest.raises(KataError, match=r"rename it to submissions\.zip"):
        collect(tmp_path / name, CATALOG)


@pytest.mark.parametrize(
    ("file", "name", "student"),
    [
        (f"submitted/ada/ps1/{FIRST}", "submitted/ada", "ada"),
        (f"Ada_1_assignsubmission_file_/work/{FIRST}", "Ada_1_assignsubmission_file_", "Ada_1"),
        ("lovelaceada_1_2_work.zip", "lovelaceada_1_2_work.zip", "lovelaceada_1"),
    ],
)
def test_a_folder_or_archive_that_is_one_students_by_its_name(tmp_path, file, name, student):
    put(tmp_path / file, zipped((f"work/{FIRST}", b"x = 1\n")) if file.endswith(".zip") else b"x = 1\n")
    work = collect(tmp_path / name, CATALOG)
    assert work.is_one
    assert [(s.student, s.answers) for s in work.submissions] == [(student, {"first": b"x = 1\n"})]


@pytest.mark.parametrize("name", ["ada", "ada/exercises", "ada/exercises/e01_one", "ada.zip"])
def test_one_students_work_may_be_named(tmp_path, name):
    if name == "ada.zip":
        put(tmp_path / name, zipped((FIRST, b"ada\n")))
    else:
        put(tmp_path / "ada" / "exercises" / FIRST, b"ada\n")
    put(tmp_path / "bob" / FIRST)
    work = collect(tmp_path / name, CATALOG)
    assert work.is_one
    assert work.submissions == (Submission("ada", {"first": b"ada\n"}),)
    assert work.notes[0].endswith("is one student's work; graded as ada")
    assert not collect(tmp_path, CATALOG).is_one


def test_a_start_that_nobody_changed_gives_way_to_an_answer(tmp_path):
    catalog = load()
    merge, softmax = catalog.exercise("merge_heads"), catalog.exercise("stable_softmax")
    start = merge.file("exercises").read_bytes()
    put(tmp_path / "ada" / merge.relative, start.replace(b"\n", b"\r\n"))
    put(tmp_path / "ada" / softmax.relative, softmax.file("exercises").read_bytes())
    put(tmp_path / "ada" / "work.zip", zipped((merge.relative, b"mine\n")))
    (ada,) = collect(tmp_path, catalog).submissions
    assert ada.answers == {"merge_heads": b"mine\n", "stable_softmax": softmax.file("exercises").read_bytes()}
    assert ada.notes == ()


@pytest.mark.parametrize("folder", [paths.ROOT, paths.EXERCISES])
def test_this_clone_is_nobodys_submission(folder):
    with pytest.raises(KataError, match="is this clone itself"):
        collect(folder, CATALOG)


def test_progress_is_told(tmp_path):
    put(tmp_path / "ada" / THIRD)
    put(tmp_path / "bob" / THIRD)
    told: list[tuple[int, int]] = []
    collect(tmp_path, CATALOG, lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2)]
