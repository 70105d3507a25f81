"""From a name that the roster does not know to one row for one person, through gradebook and exports."""

import csv
import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader import cli
from tests.grader.classroom.cli.test_late import SLUG, SOLUTION

api = pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

SECTION = "e01_tensors"
ROSTER = 'student,name\nada,"Lovelace, Ada"\nbob,Bob Boole\nkim,Kim Gordon\n'


def kata(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == status, done.output + repr(done.exception)
    return done.output


@pytest.fixture
def term(tmp_path: Path) -> Path:
    home = tmp_path / "term"
    home.mkdir()
    (home / "roster.csv").write_text(ROSTER)
    for name in ("Adah Lovelace_1005", "Boole Bob_1006"):
        folder = home / "in" / f"{name}_assignsubmission_file_"
        folder.mkdir(parents=True)
        (folder / f"{SLUG}.py").write_text(SOLUTION)
    (home / "course/source" / SECTION).mkdir(parents=True)
    return home


def grade(term: Path) -> str:
    where = ("--out", str(term / "results"), "--gradebook", str(term / "course/gradebook.db"))
    return kata("grade", str(term / "in"), *where, "--only", SLUG, "--sandbox", "off", *roster(term))


def roster(term: Path) -> tuple[str, str]:
    return "--roster", str(term / "roster.csv")


def scores(term: Path) -> dict[str, str]:
    text = kata("export", "--results", str(term / "results"), *roster(term))
    assert ("note: results of nobody in the roster: Adah Lovelace_1005" in text) is (
        "Adah Lovelace_1005," in text
    )
    table = csv.DictReader(io.StringIO(text[text.index("student,") :]))
    return {row["student"]: row[SLUG] for row in table}


def test_one_person_becomes_one_row_by_match_or_by_alias_and_keeps_what_was_entered_by_hand(term):
    told = grade(term)
    assert "Adah Lovelace_1005 (is it Lovelace, Ada (ada)? `kata roster match` asks)" in told
    assert scores(term) == {"Adah Lovelace_1005": "2", "ada": "not graded", "bob": "2", "kim": "0"}
    with api.Gradebook(f"sqlite:///{term / 'course/gradebook.db'}") as book:
        book.find_grade(SLUG, SECTION, SECTION, "Adah Lovelace_1005").manual_score = 1.25
        book.db.commit()
    told = kata(
        "roster", "match", str(term / "in"), "--yes", "--results", str(term / "results"), *roster(term)
    )
    assert "results of Adah Lovelace_1005 are ada's now" in told
    assert "gradebook: Adah Lovelace_1005 is ada now" in told
    assert (
        (term / "roster.csv")
        .read_text()
        .startswith('student,name,aliases\nada,"Lovelace, Ada",Adah Lovelace\n')
    )
    assert scores(term) == {"ada": "1.25", "bob": "2", "kim": "0"}
    assert "Adah" not in grade(term)
    assert scores(term) == {"ada": "1.25", "bob": "2", "kim": "0"}

    # an alias entered by hand does the same at the next export and run
    text = (term / "roster.csv").read_text()
    (term / "roster.csv").write_text(text.replace("kim,Kim Gordon,", "lee,Kim Gordon,kim"))
    assert scores(term) == {"ada": "1.25", "bob": "2", "lee": "0"}
    assert sorted(file.name for file in (term / "results").iterdir()) == [
        *(".gradebook", ".judged", ".log.jsonl", ".seed"),
        *("ada.json", "bob.json", "lee.json"),
    ]
    assert "gradebook: kim is lee now" in grade(term)
    with api.Gradebook(f"sqlite:///{term / 'course/gradebook.db'}") as book:
        assert {one.id for one in book.students} == {"ada", "bob", "lee"}
