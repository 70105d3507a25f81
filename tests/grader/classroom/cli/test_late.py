"""Late work over a term: what it costs stays through every regrade, in every gradebook and export."""

import csv
import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader import cli
from grader.classroom.nbgrader import gradebook
from grader.core.errors import KataError
from grader.course.catalog import load
from grader.course.paths import ROOT

api = pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

SECTION, SLUG, STUDENT = "e01_tensors", "merge_heads", "lovelaceada_12345"
SOLUTION = (ROOT / "solutions" / SECTION / f"{SLUG}.py").read_text("utf-8")
WRONG = f"def {SLUG}(x):\n    return None\n"
DUE = datetime(2026, 11, 20, 12)
ZERO = "c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"


def kata(*words: str) -> str:
    """What a verb printed; of JSON, that alone."""
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout if "--json" in words else done.output


class Term:
    """A course in which one exercise is due, and lateness costs everything."""

    def __init__(self, home: Path, empty: Path) -> None:
        self.home, self.results, self.work, self._empty = home, home / "results", home / "sub", empty
        self.work.mkdir()
        self.name = f"{STUDENT}_678_ex12_{SLUG}.py"
        self.hand_in(self.name)

    def hand_in(self, name: str, text: str = SOLUTION) -> None:
        (self.work / name).write_text(text, "utf-8")

    def book(self, name: str = "course") -> Path:
        """A gradebook in a course of this name."""
        file = self.home / name / "gradebook.db"
        if not file.parent.is_dir():
            file.parent.mkdir()
            (file.parent / "nbgrader_config.py").write_text(ZERO)
            shutil.copy(self._empty, file)
            with api.Gradebook(f"sqlite:///{file}") as book:
                book.add_assignment(SECTION, duedate=DUE)
        return file

    def grade(self, *options: str, times: str = "", book: str = "course") -> str:
        if times:
            (self.home / "t.csv").write_text(f"student,assignment,time\n{times}\n")
            options = (*options, "--times", str(self.home / "t.csv"))
        if book:
            options = (*options, "--gradebook", str(self.book(book)))
        verb = ("grade", str(self.work), "--out", str(self.results), "--sandbox", "off", "--only", SLUG)
        return kata(*verb, *options)

    def exported(self) -> dict[str, tuple[str, str]]:
        """The totals of each student, as the CSV has them and as Canvas's has."""
        results = ("--results", str(self.results))
        to = self.home / "out.csv"
        kata("export", *results, "--to", str(to))
        totals = {row["student"]: row["total"] for row in csv.DictReader(to.open(newline=""))}
        kata("export", *results, "--format", "canvas", "--to", str(to))
        _, _, *rows = csv.reader(to.open(newline=""))
        return {f"{row[0]}_{row[1]}": (totals[f"{row[0]}_{row[1]}"], row[-1]) for row in rows}


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A gradebook that nothing is in: nbgrader takes seconds to make one."""
    file = tmp_path_factory.mktemp("empty") / "gradebook.db"
    gradebook.write(str(file), [], load())
    return file


@pytest.fixture
def term(tmp_path, empty):
    return Term(tmp_path, empty)


LATE = f"{STUDENT},{SECTION},2026-11-22T09:00:00Z"


def test_a_late_penalty_outlives_every_regrade(term):
    told = term.grade(times=LATE)
    assert "note: 1 time of arrival entered" in told
    assert "scores: 1 judged for the first time, 1 by hand or for lateness" in told
    assert term.exported() == {STUDENT: ("0", "0")}
    told = term.grade()
    assert "arrival" not in told and "scores:" not in told
    assert term.exported() == {STUDENT: ("0", "0")}
    assert json.loads((term.results / f"{STUDENT}.json").read_text())["score"] == 2

    # Another student, who is marked as late, with a table that has nobody else; and another gradebook.
    term.hand_in(f"boolegeorge_LATE_7_679_ex12_{SLUG}.py")
    told = term.grade(times=f"boolegeorge_7,{SECTION},2026-11-20T11:00:00Z")
    assert "1 time of arrival entered" in told and "changed" not in told
    in_time = {STUDENT: ("0", "0"), "boolegeorge_7": ("2", "2")}
    assert term.exported() == in_time
    (term.work / f"boolegeorge_LATE_7_679_ex12_{SLUG}.py").unlink()
    told = term.grade(book="other")
    assert "results were in the gradebook " in told
    assert "entered from earlier runs, too: boolegeorge_7" in told
    assert term.exported() == in_time

    told = term.grade(times=f"{STUDENT},{SECTION},", book="other")
    assert f"1 time of arrival changed: {STUDENT} {SECTION} 22 Nov 2026 09:00Z → not LATE" in told
    assert term.exported() == {**in_time, STUDENT: ("2", "2")}
    term.grade()
    assert term.exported() == {**in_time, STUDENT: ("2", "2")}, "the first gradebook held the time still"


def test_a_penalty_of_other_scores_is_not_exported(term):
    term.hand_in(term.name, WRONG)
    term.grade(times=LATE)
    term.hand_in(term.name)
    told = term.grade("--gradebook", "none", book="")
    assert "has the scores of before: add --gradebook" in told and "scores: 1 up" in told
    assert (
        f"handed in anew, at a time of before; where it came later, say so with --times: {STUDENT} " in told
    )
    for verb in ("export", "report"):
        done = CliRunner().invoke(cli.app, [verb, "--results", str(term.results)])
        assert isinstance(done.exception, KataError)
        assert f"was late with {SECTION}" in str(done.exception) and "\n" not in str(done.exception)
    term.grade()
    assert term.exported() == {STUDENT: ("0", "0")}
    with api.Gradebook(f"sqlite:///{term.book()}") as book:
        book.find_grade(SLUG, SECTION, SECTION, STUDENT).extra_credit = 0.5
        book.db.commit()
    line = (
        f"late, and reckoned before a score by hand: `kata grade` with --gradebook reckons anew: {STUDENT} "
    )
    assert line in kata("export", "--results", str(term.results))
    term.grade()
    assert "reckoned" not in kata("export", "--results", str(term.results))
    assert term.exported() == {STUDENT: ("0", "0")}


@pytest.mark.parametrize(("first", "then", "now"), [(WRONG, SOLUTION, "2"), (SOLUTION, WRONG, "0")])
def test_a_score_by_hand_over_another_automatic_one_is_asked_about_everywhere(term, first, then, now):
    term.hand_in(term.name, first)
    term.grade()
    with api.Gradebook(f"sqlite:///{term.book()}") as book:
        book.find_grade(SLUG, SECTION, SECTION, STUDENT).manual_score = 1.0
        book.db.commit()
    assert "look" not in term.grade()
    term.hand_in(term.name, then)
    line = f"scores by hand to look at again: {STUDENT} {SLUG}, 1 by hand, {now} automatically now"
    assert line in term.grade()
    assert line in term.grade(), "until somebody does"
    results = ("--results", str(term.results))
    for format in ("csv", "canvas", "json"):
        assert line in kata("export", *results, "--format", format)
    assert f"look again: 1 by hand, {now} automatically now" in kata("export", *results)
    assert f"note: {line}" in kata("report", *results, "--to", str(term.home / "report"))
    page = (term.home / "report" / "index.html").read_text()
    assert "graded by hand, and judged anew since" in page
    assert 'href="changes.html"' in page
    with api.Gradebook(f"sqlite:///{term.book()}") as book:
        book.find_grade(SLUG, SECTION, SECTION, STUDENT).needs_manual_grade = False
        book.db.commit()
    told = json.loads(term.grade("--json"))
    assert told["changes"] == [] and not any("look" in note for note in told["notes"])
    kinds = [json.loads(one)["why"] for one in (term.results / ".log.jsonl").read_text().splitlines()]
    assert kinds == [["first judged"], ["by hand"], ["answer"]]
