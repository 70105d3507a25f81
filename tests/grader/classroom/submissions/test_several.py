"""One student who handed in under several names: what counts, what needs a person, and what is said of it."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.submissions.class_folder import Submission, collect
from grader.course.catalog import Catalog, Section
from grader.course.roster import NOBODY, Roster, Student
from tests.grader.classroom.submissions.test_archives import FIRST, SECOND, zipped
from tests.grader.classroom.submissions.test_class_folder import put
from tests.grader.support.little_course import CATALOG

ROSTER = Roster(
    (Student("ada", "Lovelace, Ada", "", ("countess", "lovelaceada_12", "lovelaceada_13")), Student("bob"))
)
MOODLE = "Ada Lovelace_99_assignsubmission_file_"
START = b"raise NotImplementedError\n"
first, second = CATALOG.sections[0].exercises
BEGUN = Section("e01_one", "One", (replace(first, start=first.digest(START)), second))


def ada(folder: Path, files: dict[str, bytes], roster: Roster = ROSTER) -> Submission:
    for name, content in files.items():
        put(folder / name, content)
    found = collect(folder, Catalog((BEGUN, CATALOG.sections[1])), roster=roster)
    assert [s.student for s in found.submissions] == ["ada"]
    return found.submissions[0]


STAMPS = {
    "submitted/countess/e01_one/timestamp.txt": b"2026-01-02 03:04:05 UTC",
    "submitted/ada/e01_one/timestamp.txt": b"2026-01-01 03:04:05 UTC",
}


@pytest.mark.parametrize(
    ("files", "first", "notes"),
    [
        ({f"countess/{FIRST}": b"old\n", f"{MOODLE}/{FIRST}": b"new\n"}, None, ()),
        ({f"countess/{FIRST}": b"old\n", f"{MOODLE}/{FIRST}": b"old\n"}, b"old\n", ()),
        ({f"countess/{FIRST}": b"old\n", "ada.zip": zipped((FIRST, b"new\n"))}, None, ()),
        ({f"countess/{FIRST}": START, f"ada/{FIRST}": b"new\n"}, b"new\n", ()),
        (
            {"lovelaceada_13_7_ex01_first.py": b"old\n", "lovelaceada_12_9_ex01_first.py": b"new\n"},
            b"new\n",
            ("of these, lovelaceada_12 is newer and counts: first",),
        ),
        (
            {"ada.zip": zipped((FIRST, b"old\n")), "ada (1).zip": zipped((FIRST, b"new\n"))},
            b"new\n",
            ("of these, ada (1) is newer and counts: first",),
        ),
        (
            {f"submitted/countess/{FIRST}": b"new\n", f"submitted/ada/{FIRST}": b"old\n", **STAMPS},
            b"new\n",
            ("of these, countess is newer and counts: first",),
        ),
    ],
)
def test_the_newest_counts_where_something_tells_and_else_a_person_is_asked(tmp_path, files, first, notes):
    if "submitted" in str(files):
        put(tmp_path / "gradebook.db")
    found = ada(tmp_path, files)
    assert found.answers.get("first") == first
    assert ("first" in found.problems) is (first is None)
    names = found.notes[0].removeprefix("handed in under 2 names: ").split(" and ")
    assert len(names) == 2 and found.notes[1:] == notes
    if first is None:
        assert found.problems == {"first": f"{' and '.join(names)} differ: which counts?"}


def test_a_start_under_one_name_hides_nothing_that_cannot_be_read_under_another(tmp_path):
    found = ada(tmp_path, {f"countess/{FIRST}": START, "ada.zip": b"Rar!\x1a\x07\x01\x00"})
    assert found.answers == {} and "ada.zip is a RAR archive" in found.problems["first"]
    assert found.doubtful == {"first", "second", "third"} and found.meant == set()


def test_what_each_holds_is_told_by_its_name(tmp_path):
    files = {
        "countess/notes.docx": b"",
        "countess/ex01_first.py": b"\xff\xff",
        "ada/LATE_x.pdf": b"",
        f"ada/{FIRST}": b"a\n",
    }
    found = ada(tmp_path, files)
    assert found.answers == {"first": b"a\n"} and not found.problems
    assert any(note.startswith("countess: not read: ex01_first.py") for note in found.notes)
    assert any(note.startswith("countess: no exercise's file, ignored: notes.docx") for note in found.notes)


@pytest.mark.parametrize("roster", [ROSTER, NOBODY, Roster((Student("Jos\u00e9"),))])
def test_forms_of_an_accent_make_no_second_student(tmp_path, roster):
    put(tmp_path / "Jose\u0301" / FIRST, b"a\n")
    put(tmp_path / "Jos\u00e9" / SECOND, b"b\n")
    (found,) = collect(tmp_path, CATALOG, roster=roster).submissions
    assert found == Submission("Jos\u00e9", {"first": b"a\n", "second": b"b\n"})


class Unsaid(zipfile.ZipInfo):
    """A file whose name is in an encoding that the archive does not tell."""

    def __init__(self, name: str, encoding: str) -> None:
        self.raw = name.encode(encoding)
        super().__init__(self.raw.decode("cp437"))

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.raw, 0


@pytest.mark.parametrize("encoding", ["cp932", "gbk", "utf-8"])
def test_a_garbled_name_is_read_where_the_roster_knows_it_and_only_there(tmp_path, encoding):
    name = "\u5c71\u7530 \u8868\u592a"  # in Shift-JIS one of its bytes is a backslash
    roster = Roster((Student("taro", "\u8868\u592a, \u5c71\u7530"), Student("bob")))
    work = Unsaid(f"{name}_7_assignsubmission_file_/{FIRST}", encoding)
    download = put(tmp_path / "week.zip", zipped((work, b"a\n"), (f"bob/{FIRST}", b"b\n")))
    assert [s.student for s in collect(download, CATALOG, roster=roster).submissions] == ["bob", "taro"]
    unknown = {s.student for s in collect(download, CATALOG).submissions} - {"bob"}
    assert unknown == {f"{name}_7"} if encoding == "utf-8" else unknown and "taro" not in unknown
