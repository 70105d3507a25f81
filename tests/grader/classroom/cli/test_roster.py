"""`kata roster match`: unknown names are asked about once, and are aliases then."""

import pytest
from typer.testing import CliRunner

from grader import cli
from grader.classroom.cli import roster as matching
from grader.program.app import out
from tests.grader.classroom.submissions.test_class_folder import put

ROSTER = """\
student,name,email,aliases
ada1,Ada Lovelace,ada@x.org,
ada2,"Lovelace, Ada",ada2@x.org,
jose,José García,jose@x.org,
zoe,Zoë Quinn,zoe@x.org,
"""
NAMES = ["Ada Lovelace_1005", "Ada Lovelace_1006", "Jose Garcia_1007", "Zoë Quinn_1008"]
WORKSHEET = "Identifier,Full name,Email address\nParticipant 1005,Ada Lovelace,ADA2@x.org\n"


@pytest.fixture
def course(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, "utf-8")
    (tmp_path / "worksheet.csv").write_text(WORKSHEET)
    for name in NAMES:
        put(tmp_path / "in" / f"{name}_assignsubmission_file_" / "merge_heads.py")
    put(tmp_path / "in" / "xx9" / "merge_heads.py")
    return tmp_path


def match(course, *options: str):
    return CliRunner().invoke(
        cli.app, ["roster", "match", str(course / "in"), "--roster", str(course / "roster.csv"), *options]
    )


def asked(course) -> bool:
    nothing = course / "results"
    return matching.match(
        course / "in", course / "roster.csv", None, nothing, yes=False, ask=True, out=out, err=out
    )


def aliases(course) -> list[str]:
    return [line.rpartition(",")[2] for line in (course / "roster.csv").read_text("utf-8").splitlines()[1:]]


def test_without_a_terminal_the_proposals_are_listed(course):
    done = match(course)
    assert done.exit_code == 1, done.output
    two = "Ada Lovelace (ada1) or Lovelace, Ada (ada2)?"
    lines = done.output.splitlines()
    assert lines[:4] == [
        f"Ada Lovelace_1005: {two}",
        f"Ada Lovelace_1006: {two}",
        "Jose Garcia_1007: José García (jose)?",
        "xx9: like nobody's name in the roster",
    ]
    assert lines[4].startswith("4 of 4 names stay open: ")
    assert (course / "roster.csv").read_text("utf-8") == ROSTER


def test_yes_takes_what_may_be_one_students_alone_and_a_table_tells_two_apart(course):
    done = match(course, "--yes")
    assert done.exit_code == 1 and aliases(course) == ["", "", "Jose Garcia", ""]
    assert "3 of 3 names stay open" in match(course).output
    done = match(course, "--yes", "--table", str(course / "worksheet.csv"))
    assert "Ada Lovelace_1005 is Lovelace, Ada (ada2)" in done.output
    assert aliases(course) == ["", "Ada Lovelace_1005", "Jose Garcia", ""]


def test_at_a_terminal_each_is_asked(course, monkeypatch):
    said = iter(["2", "nobody", "ada1", "", "+"])
    monkeypatch.setattr(matching.typer, "prompt", lambda *_, **__: next(said))
    with out.capture() as told:
        assert not asked(course)
    assert "nobody has the id 'nobody'" in told.get()
    assert aliases(course) == ["Ada Lovelace_1006", "Ada Lovelace_1005", "", "", ""]
    assert told.get().splitlines()[-1].startswith("1 of 4 names stay open")
    monkeypatch.setattr(matching.typer, "prompt", lambda *_, **__: "1")
    assert asked(course)
    done = match(course)
    assert done.exit_code == 0 and "roster.csv knows every name in" in done.output
