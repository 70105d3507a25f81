"""Pages as a zip that a platform takes back."""

import csv
import io
import zipfile

import pytest
from rich.console import Console

from grader.classroom import report
from grader.core.errors import KataError
from grader.course.catalog import load
from grader.records.records import StudentRecord
from tests.grader.classroom.report.test_report import PASSED, save

SLUG = load().exercises[0].slug


def run(folder, download) -> tuple[str, str]:
    out, err = (Console(file=io.StringIO(), width=300) for _ in range(2))
    report.run(folder / "results", folder / "report", out, err, download=download)
    return out.file.getvalue(), err.file.getvalue()  # type: ignore[attr-defined]


@pytest.fixture
def graded(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "lovelaceada_12_345_a.py").write_text("")
    for student in ("lovelaceada_12", "=bob"):
        save(tmp_path / "results", StudentRecord(student, 7, {SLUG: PASSED}))
    return tmp_path


def test_each_page_goes_under_its_students_name_and_a_table_tells_which(graded):
    told, noted = run(graded, graded / "work")
    assert told.splitlines()[-1].endswith("report/feedback.zip, manifest.csv")
    assert noted == "note: not in the zip, as the download has no file of theirs: =bob\n"
    with zipfile.ZipFile(graded / "report" / "feedback.zip") as packed:
        assert packed.namelist() == ["lovelaceada_12_345_feedback.html"]
        page = packed.read("lovelaceada_12_345_feedback.html")
    assert (
        page
        == (graded / "report/students" / report.file_names(["lovelaceada_12"])["lovelaceada_12"]).read_bytes()
    )
    with (graded / "report" / "manifest.csv").open(newline="", encoding="utf-8") as stream:
        rows = {row["student"]: (row["score"], row["points"], row["file"]) for row in csv.DictReader(stream)}
    assert rows["lovelaceada_12"][2] == "lovelaceada_12_345_feedback.html"
    assert rows["lovelaceada_12"][0] == rows["lovelaceada_12"][1] == rows["'=bob"][0]
    assert rows["'=bob"][2] == ""
    first = (graded / "report" / "feedback.zip").read_bytes()
    run(graded, graded / "work")
    assert (graded / "report" / "feedback.zip").read_bytes() == first


def test_a_download_that_cannot_be_read_is_told_before_anything_is_written(graded):
    with pytest.raises(KataError, match="name what your platform gave you"):
        run(graded, graded / "missing.zip")
    assert not (graded / "report").exists()


def test_without_a_download_there_is_no_zip(graded):
    run(graded, None)
    assert not (graded / "report" / "feedback.zip").exists()
