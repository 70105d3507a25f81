"""Under which names Canvas and Moodle take feedback back."""

import pytest

from grader.classroom.submissions.ways_back import ways_back
from grader.core.errors import KataError
from grader.course.roster import Roster, Student
from tests.grader.classroom.submissions.test_platforms import CANVAS, MOODLE, put, zipped
from tests.grader.support.little_course import CATALOG


@pytest.mark.parametrize("form", ["folder", "zip", "wrapped zip"])
def test_canvas_knows_a_student_by_number_and_that_of_the_newest_file(tmp_path, form):
    place = tmp_path / "submissions"
    if form == "folder":
        for name, content in CANVAS.items():
            put(place / name, content)
    else:
        prefix = "hw1 submissions/" if form == "wrapped zip" else ""
        place = put(tmp_path / "submissions.zip", zipped(*((prefix + n, text) for n, text in CANVAS.items())))
    found = ways_back(place, CATALOG)
    newest = {"lovelaceada_12": 345, "boolegeorge_13": 350, "hopper_14": 351, "noether_16": 352}
    assert found == {student: [f"{student}_{number}_feedback.html"] for student, number in newest.items()}
    assert "gauss_15" not in found, "who wrote into a text box has no file"


def test_moodle_knows_a_student_by_the_folder(tmp_path):
    for name, content in MOODLE.items():
        put(tmp_path / name, content)
    found = ways_back(tmp_path, CATALOG)
    assert found["Ada Lovelace_12"] == ["Ada Lovelace_12_assignsubmission_file_/feedback.html"]


def test_a_student_is_called_as_the_roster_does(tmp_path):
    put(tmp_path / "lovelaceada_LATE_12_345_a.py", b"")
    roster = Roster((Student("ada", aliases=("lovelaceada_12",)),))
    assert ways_back(tmp_path, CATALOG, roster) == {"ada": ["lovelaceada_12_345_feedback.html"]}


def test_who_handed_in_as_two_gets_it_as_both(tmp_path):
    folders = [f"{name}_assignsubmission_file_" for name in ("Ada Lovelace_12", "Ada King_19")]
    for folder in folders:
        put(tmp_path / folder / "a.py", b"")
    roster = Roster((Student("ada", aliases=("Ada Lovelace_12", "Ada King_19")),))
    ways = [f"{folder}/feedback.html" for folder in sorted(folders)]
    assert ways_back(tmp_path, CATALOG, roster) == {"ada": ways}


@pytest.mark.parametrize(
    "name",
    [
        *("zoe_17_400_hopper_14_999_a.py", "zoe_17_400_LATE_14_999_a.py", "zoe_17_400_a.zip"),
        "Zoe_17_assignsubmission_file_/Hopper_14_assignsubmission_file_/a.py",
    ],
)
def test_no_name_of_a_file_asks_for_a_classmates_page(tmp_path, name):
    inside = zipped(("hopper_14_999_a.py", b""))
    place = put(tmp_path / "submissions.zip", zipped((name, inside), ("hopper_14_351_a.py", b"")))
    found = ways_back(place, CATALOG)
    assert found.pop("hopper_14") == ["hopper_14_351_feedback.html"]
    assert len(found) == 1 and found.keys() <= {"zoe_17", "Zoe_17"}


@pytest.mark.parametrize("make", ["nothing", "folders", "broken"])
def test_what_is_no_download_is_one_line(tmp_path, make):
    place = tmp_path / "work"
    if make == "folders":
        put(place / "ada" / "a.py", b"")
    if make == "broken":
        place = put(tmp_path / "work.zip", b"PK\x03\x04 broken")
    with pytest.raises(KataError, match=r"what you downloaded there|what your platform gave you") as told:
        ways_back(place, CATALOG)
    assert "\n" not in str(told.value)
