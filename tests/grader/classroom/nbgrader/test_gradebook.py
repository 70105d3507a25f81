import csv
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from grader.classroom.export import to_know
from grader.classroom.nbgrader import connection, corrections, gradebook
from grader.core.errors import KataError
from grader.course import cell_names
from grader.course.catalog import Catalog, Section
from grader.course.paths import ROOT
from grader.records import comments
from grader.records.arrivals import Arrival
from grader.records.records import CheckRecord, ExerciseRecord, StudentRecord
from tests.grader.support.little_course import exercise

api = pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

from sqlalchemy import MetaData, create_engine, inspect, text  # noqa: E402
from sqlalchemy.pool import NullPool  # noqa: E402

pytestmark = pytest.mark.slow


CATALOG = Catalog(
    (
        Section("e01_one", "One", (exercise("first", "e01_one", 1), exercise("second", "e01_one", 2, 4))),
        Section("e02_two", "Two", (exercise("third", "e02_two", 3),)),
    )
)
WRONG = CheckRecord("t::a", "keeps the order", "failed", "wrong values\n  yours 1\n  wanted 2")
RIGHT = CheckRecord("t::b", "works on a batch", "passed")
PASSED = ExerciseRecord("passed", 2.0, 2.0, (RIGHT,))
PARTIAL = ExerciseRecord("partial", 1.5, 2.0, (WRONG, RIGHT))
NOT_GRADED = ExerciseRecord("not_graded", 0.0, 2.0, (CheckRecord("t::c", "runs on a GPU", "not_graded"),))


def student(name: str, **exercises: ExerciseRecord) -> StudentRecord:
    return StudentRecord(name, 7, exercises)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Making a gradebook takes nbgrader a second: it is made once and copied."""
    file = tmp_path_factory.mktemp("empty") / "gradebook.db"
    gradebook.write(str(file), [], CATALOG)
    return file


@pytest.fixture
def db(empty: Path, tmp_path: Path) -> str:
    return str(shutil.copy(empty, tmp_path / "gradebook.db"))


@pytest.fixture(scope="module")
def database(postgres: Callable[[str], str]) -> Callable[[], str]:
    """An empty gradebook in PostgreSQL, emptied again by every call: making a database costs more."""
    url = postgres("gradebook")
    gradebook.write(url, [], CATALOG)
    engine = create_engine(url, poolclass=NullPool)
    tables = [name for name in inspect(engine).get_table_names() if name != "alembic_version"]

    def emptied() -> str:
        with engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {', '.join(tables)} CASCADE"))
        return url

    return emptied


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.database)])
def any_db(request: pytest.FixtureRequest) -> str:
    """A file, and a URL of a server."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("db"))
    return str(request.getfixturevalue("database")())


@contextmanager
def opened(db: str) -> Iterator[api.Gradebook]:
    with api.Gradebook(db if "://" in db else f"sqlite:///{db}") as book:
        yield book


def grade(db: str, name: str, slug: str, section: str = "e01_one") -> tuple[float | None, bool, float]:
    with opened(db) as book:
        found = book.find_grade(slug, section, section, name)
        return found.auto_score, found.needs_manual_grade, found.score


def comment(db: str, name: str, slug: str, section: str = "e01_one") -> str | None:
    with opened(db) as book:
        return book.find_comment(cell_names.answer_cell(slug), section, section, name).comment


def dump(db: str) -> dict[str, list[str]]:
    """Every row of every table."""
    with opened(db) as book:
        everything = MetaData()
        everything.reflect(book.db.get_bind())
        return {
            table.name: sorted(map(str, book.db.execute(table.select())))
            for table in everything.sorted_tables
        }


def test_sections_are_assignments_and_exercises_grade_cells(any_db):
    assert gradebook.write(any_db, [student("ada", first=PARTIAL, second=PASSED)], CATALOG) == []
    with opened(any_db) as book:
        assert [a.name for a in book.assignments] == ["e01_one"]
        (notebook,) = book.assignments[0].notebooks
        assert notebook.name == "e01_one"
        assert {cell.name: cell.max_score for cell in notebook.grade_cells} == {"first": 2, "second": 4}
        assert {cell.name for cell in notebook.solution_cells} == {"first-answer", "second-answer"}
        both = {"first", "first-answer", "second", "second-answer"}
        assert {cell.name for cell in notebook.source_cells} == both
    assert grade(any_db, "ada", "first") == (1.5, False, 1.5)
    assert grade(any_db, "ada", "second") == (2, False, 2)


def test_nbgrader_export_shows_the_totals(any_db, tmp_path):
    records = [
        student("ada", first=PARTIAL, second=PASSED, third=NOT_GRADED),
        student("bob", first=PASSED, second=PASSED, third=PASSED),
    ]
    gradebook.write(any_db, records, CATALOG)
    url = any_db if "://" in any_db else f"sqlite:///{any_db}"
    home = {**os.environ, "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    command = [sys.executable, "-m", "nbgrader", "export", "--to", "grades.csv", "--db", url]
    subprocess.run(command, cwd=tmp_path, env=home, check=True, capture_output=True)
    with (tmp_path / "grades.csv").open(newline="") as stream:
        rows = [
            (r["student_id"], r["assignment"], r["score"], r["max_score"]) for r in csv.DictReader(stream)
        ]
    assert sorted(rows) == [
        ("ada", "e01_one", "3.5", "6.0"),
        ("ada", "e02_two", "0.0", "2.0"),
        ("bob", "e01_one", "4.0", "6.0"),
        ("bob", "e02_two", "2.0", "2.0"),
    ]


def test_where_the_course_is_and_when_work_came(any_db, monkeypatch, tmp_path):
    came = {("ada", "e01_one"): Arrival("2026-11-20 12:00:01 UTC")}
    students = [student("ada", first=PASSED), student("bob", first=PASSED)]
    assert gradebook.write(any_db, students, CATALOG, came) == []
    times = {("ada", "e01_one"): datetime(2026, 11, 20, 12, 0, 1), ("bob", "e01_one"): None}
    assert gradebook.times(any_db) == times
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert connection.place(any_db).folder == (Path.cwd() if "://" in any_db else tmp_path)


@pytest.mark.parametrize("status", ["not_graded", "grader_fault"])
def test_what_was_not_judged_waits_for_a_person_and_is_not_zero(any_db, status):
    gradebook.write(any_db, [student("ada", first=ExerciseRecord(status, 0.0, 2.0))], CATALOG)
    assert grade(any_db, "ada", "first") == (None, True, 0)
    gradebook.write(any_db, [student("ada", first=ExerciseRecord("failed", 0.0, 2.0))], CATALOG)
    assert grade(any_db, "ada", "first") == (0, False, 0)


@pytest.mark.parametrize(("score", "entered"), [(99.0, 2.0), (-1.0, 0.0), (float("nan"), 0.0)])
def test_scores_lie_between_zero_and_the_points(db, score, entered):
    gradebook.write(db, [student("ada", first=ExerciseRecord("partial", score, 99.0))], CATALOG)
    assert grade(db, "ada", "first") == (entered, False, entered)


def test_writing_again_changes_nothing(any_db):
    records = [student("ada", first=PARTIAL, second=PASSED), student("bob", third=NOT_GRADED)]
    gradebook.write(any_db, records, CATALOG)
    before = dump(any_db)
    gradebook.write(any_db, records, CATALOG)
    assert dump(any_db) == before


def test_a_new_score_and_comment_replace_the_old(any_db):
    gradebook.write(any_db, [student("ada", first=PARTIAL)], CATALOG)
    assert "keeps the order" in (comment(any_db, "ada", "first") or "")
    gradebook.write(any_db, [student("ada", first=PASSED)], CATALOG)
    assert grade(any_db, "ada", "first") == (2, False, 2)
    assert comment(any_db, "ada", "first") is None


def test_what_was_entered_before_an_assignment_had_another_name_is_told(db):
    gradebook.write(
        db, [student("ada", first=PARTIAL, second=PARTIAL), student("bob", third=PASSED)], CATALOG
    )
    with opened(db) as book:
        book.find_grade("first", "e01_one", "e01_one", "ada").manual_score = 1.0
        book.find_grade("second", "e01_one", "e01_one", "ada").extra_credit = 1.0
        book.find_submission_notebook("e02_two", "e02_two", "bob").late_submission_penalty = 2.0
        book.db.commit()
    assert corrections.read(db, CATALOG).elsewhere == []
    one, two = CATALOG.sections
    first, second = (
        replace(e, set_in=name) for e, name in zip(one.exercises, ("week1", one.name), strict=True)
    )
    week2 = Section("week2", "", tuple(replace(e, set_in="week2") for e in two.exercises))
    renamed = Catalog((Section("week1", "", (first,)), replace(one, exercises=(second,)), week2))
    lost = ["ada first in e01_one", "bob, late with e02_two"]
    assert corrections.read(db, renamed).elsewhere == lost
    (line,) = to_know(Path("none"), [], corrections.read(db, renamed), renamed)
    assert line.startswith("entered for assignments that set something else now, and not counted")
    assert line.endswith("; ".join(lost))
    gradebook.write(db, [student("ada", first=PARTIAL)], renamed)
    with opened(db) as book:
        book.find_grade("first", "week1", "week1", "ada").manual_score = 1.5
        book.db.commit()
    assert corrections.read(db, renamed).elsewhere == lost[1:]


def test_what_a_person_entered_stays(any_db):
    gradebook.write(any_db, [student("ada", first=PARTIAL)], CATALOG)
    with opened(any_db) as book:
        by_hand = book.find_grade("first", "e01_one", "e01_one", "ada")
        by_hand.manual_score, by_hand.extra_credit, by_hand.needs_manual_grade = 1.0, 0.5, False
        book.find_comment(
            cell_names.answer_cell("first"), "e01_one", "e01_one", "ada"
        ).manual_comment = "well tried"
        book.update_or_create_student("ada", first_name="Ada", email="ada@example.org")
    before = dump(any_db)
    gradebook.write(any_db, [student("ada", first=PARTIAL)], CATALOG)
    assert dump(any_db) == before
    gradebook.write(any_db, [student("ada", first=PASSED)], CATALOG)
    assert grade(any_db, "ada", "first") == (2, True, 1.5), "the score below has changed: look again"
    assert comment(any_db, "ada", "first") == "well tried"
    with opened(any_db) as book:
        assert book.find_student("ada").first_name == "Ada"


def test_an_exercise_added_later_reaches_older_submissions(any_db):
    gradebook.write(any_db, [student("ada", first=PARTIAL), student("bob", first=PASSED)], CATALOG)
    gradebook.write(
        any_db, [student("ada", first=PARTIAL, second=PASSED), student("bob", first=PASSED)], CATALOG
    )
    assert grade(any_db, "ada", "second") == (2, False, 2)
    assert comment(any_db, "ada", "second") is None
    assert grade(any_db, "bob", "second") == (None, True, 0)
    assert grade(any_db, "bob", "first") == (2, False, 2)


@pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own way to add a submission
def test_a_gradebook_that_nbgrader_began_is_completed(any_db):
    with opened(any_db) as book:
        book.add_assignment("e01_one", duedate=None)
        book.add_notebook("essay", "e01_one")
        book.add_student("ada", last_name="Lovelace")
        book.add_submission("e01_one", "ada")
        book.add_task_cell("why", "essay", "e01_one", max_score=3, cell_type="markdown")
        book.add_notebook("e01_one", "e01_one")
        book.add_grade_cell("first", "e01_one", "e01_one", max_score=1, cell_type="code")
    gradebook.write(any_db, [student("ada", first=PARTIAL)], CATALOG)
    assert grade(any_db, "ada", "first") == (1.5, False, 1.5)
    with opened(any_db) as book:
        assert book.find_grade("why", "essay", "e01_one", "ada").needs_manual_grade
        assert book.find_comment("why", "essay", "e01_one", "ada").comment is None
        assert book.find_submission("e01_one", "ada").max_score == 5
        assert book.find_student("ada").last_name == "Lovelace"


def test_one_student_who_cannot_be_written_stops_nobody(any_db, monkeypatch):
    real = gradebook.comment

    def fail_on_third(judged: ExerciseRecord) -> str | None:
        if judged.score == 0.25:
            raise ValueError("no such luck\nsecond line")
        return real(judged)

    monkeypatch.setattr(gradebook, "comment", fail_on_third)
    records = [
        student("ada", first=PARTIAL),
        student("bob", first=PASSED, third=ExerciseRecord("partial", 0.25, 2.0)),
        student("sur\udcff", first=PASSED),
        student("zoe", first=PASSED),
    ]
    problems = gradebook.write(any_db, records, CATALOG)
    assert problems[0] == "bob: not written to the gradebook: no such luck"
    assert len(problems) == 2
    assert all("\n" not in problem for problem in problems)
    with opened(any_db) as book:
        assert {s.id for s in book.students} == {"ada", "zoe"}, "bob is not there by half"
    assert grade(any_db, "zoe", "first") == (2, False, 2)


def test_an_exercise_that_the_catalog_lacks_is_told(db):
    problems = gradebook.write(db, [student("ada", first=PASSED, gone=PASSED)], CATALOG)
    assert problems == ["gone: not written to the gradebook: the catalog has no such exercise"]
    assert grade(db, "ada", "first") == (2, False, 2)


@pytest.mark.parametrize("name", ["Lovelace, Ada", "=1+1", "two words", "Åsa", "o'hara; drop table grade"])
def test_odd_names_are_ids(db, name):
    assert gradebook.write(f"sqlite:///{db}", [student(name, first=PASSED)], CATALOG) == []
    assert grade(db, name, "first") == (2, False, 2)


def test_a_new_gradebook_needs_no_activated_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    new = tmp_path / "new.db"
    gradebook.write(str(new), [student("ada", first=PASSED)], CATALOG)
    assert grade(str(new), "ada", "first") == (2, False, 2)
    assert dump(str(new))["alembic_version"]
    assert os.environ["PATH"] == str(tmp_path)


def refused(url: str) -> str:
    with pytest.raises(KataError) as told:
        gradebook.write(url, [student("ada", first=PASSED)], CATALOG)
    assert "\n" not in str(told.value)
    return str(told.value)


@contextmanager
def locked(db: str) -> Iterator[str]:
    """Another program writes to the gradebook; the URL has us wait for it shortly."""
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield f"sqlite:///{db}?timeout=0.05"
    finally:
        other.rollback()
        other.close()


def test_a_locked_gradebook_is_one_line_and_works_once_free(db):
    with locked(db) as url:
        assert "locked; another program" in refused(url)
    assert gradebook.write(db, [student("ada", first=PASSED)], CATALOG) == []


def rows(db: str) -> dict[str, int]:
    return {table: len(found) for table, found in dump(db).items()}


def test_a_full_disk_is_one_line_and_the_next_write_completes_it(db, tmp_path):
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    records = [student(f"s{n:02d}", first=PARTIAL, second=PASSED) for n in range(15)]
    whole = str(shutil.copy(db, tmp_path / "whole.db"))
    gradebook.write(whole, records, CATALOG)
    with sqlite3.connect(db) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()

    def fill_up(connection, _record):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(Engine, "connect", fill_up)
    try:
        with pytest.raises(KataError, match="disk is full; free some space there and try again"):
            gradebook.write(db, records, CATALOG)
    finally:
        event.remove(Engine, "connect", fill_up)
    assert rows(db)["grade"] % 2 == 0, "a student is written wholly or not at all"
    assert gradebook.write(db, records, CATALOG) == []
    assert rows(db) == rows(whole)


@pytest.mark.parametrize("last", [1, 8, 20, 35, 50])
def test_a_write_that_is_killed_is_completed_by_the_next(any_db, empty, tmp_path, last):
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    records = [student("ada", first=PARTIAL, second=PASSED), student("bob", first=PASSED, third=NOT_GRADED)]
    whole = str(shutil.copy(empty, tmp_path / "whole.db"))
    gradebook.write(whole, records, CATALOG)
    child = os.fork()
    if child == 0:
        statements = iter(range(1, last))

        def count(*_arguments):
            if next(statements, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        try:
            gradebook.write(any_db, records, CATALOG)
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "it was over before it could be killed"
    assert gradebook.write(any_db, records, CATALOG) == []
    assert rows(any_db) == rows(whole)
    assert grade(any_db, "ada", "first") == (1.5, False, 1.5)
    assert grade(any_db, "bob", "third", "e02_two") == (None, True, 0)


def test_nbgraders_own_traceback_is_not_shown(db):
    # In a fresh process: pytest catches what is logged.
    script = (
        "import sys; from grader.core.errors import KataError\n"
        "from tests.grader.classroom.nbgrader import test_gradebook as t\n"
        "try: t.gradebook.write(sys.argv[1], [t.student('ada', first=t.PASSED)], t.CATALOG)\n"
        "except KataError as told: print(told)"
    )
    with locked(db) as url:
        run = subprocess.run([sys.executable, "-c", script, url], cwd=ROOT, capture_output=True, text=True)
    assert "locked" in run.stdout
    assert "Traceback" not in run.stderr


def test_a_gradebook_that_cannot_be_written_is_one_line(db, tmp_path):
    assert "check that its folder exists" in refused(str(tmp_path / "missing" / "gradebook.db"))
    assert "check that its folder exists" in refused(str(tmp_path))
    gradebook.write(db, [student("bob", third=PASSED)], CATALOG)
    assert "you may not write" in refused(f"sqlite:///file:{db}?mode=ro&uri=true")


def test_a_file_that_is_no_gradebook_is_one_line_and_stays(tmp_path):
    file = tmp_path / "gradebook.db"
    file.write_text("my other notes\n" * 100)
    assert "it is no gradebook" in refused(str(file))
    assert file.read_text() == "my other notes\n" * 100


def test_a_damaged_gradebook_is_one_line(db):
    gradebook.write(db, [student("bob", third=PASSED)], CATALOG)
    whole = Path(db).read_bytes()
    Path(db).write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert "damaged" in refused(db)


def test_an_older_gradebook_is_told_to_upgrade(db):
    gradebook.write(db, [student("bob", third=PASSED)], CATALOG)
    with sqlite3.connect(db) as connection:
        connection.execute("ALTER TABLE student DROP COLUMN lms_user_id")
    assert "nbgrader db upgrade" in refused(db)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "no name"),
        ("sqlite://", "lost"),
        ("sqlite:///:memory:", "lost"),
        ("://x", "cannot be read"),
        ("nosuch://host/name", "nosuch"),
    ],
)
def test_a_url_that_names_nothing_is_one_line(url, words):
    assert words in refused(url)


def test_no_message_shows_a_password():
    # The host's name cannot exist, and the driver need not be installed.
    assert "secret" not in refused("postgresql://ada:secret@host.invalid/grades")
    assert "secret" not in refused("postgresql://ada:secret@host:port/grades")


def test_without_nbgrader_the_message_says_what_to_install(tmp_path, monkeypatch):
    db = str(tmp_path / "new.db")
    monkeypatch.setitem(sys.modules, "nbgrader.api", None)
    assert "pip install 'torchkata[class]'" in refused(db)
    monkeypatch.setitem(sys.modules, "sqlalchemy.engine", None)
    assert "pip install 'torchkata[class]'" in refused(db)
    assert not Path(db).exists()


def test_a_comment_holds_the_failed_checks(db):
    gradebook.write(db, [student("ada", first=PARTIAL)], CATALOG)
    assert comment(db, "ada", "first") == (
        "partial: 1 of 2 checks passed\n"
        "\n"
        "    keeps the order\n"
        "      wrong values\n"
        "        yours 1\n"
        "        wanted 2"
    )


def test_a_comment_is_short_and_printable():
    long = CheckRecord("t::d", "is\x1b[31m odd\0\udcff", "failed", "\n".join(["x" * 9999] * 99))
    lines = (comments.comment(ExerciseRecord("failed", 0, 2, (long,) * 8)) or "").splitlines()
    assert lines[0] == "failed: 0 of 8 checks passed"
    assert lines[2] == "    is odd��"
    assert lines[-1] == "    and 3 more that did not pass"
    assert len(lines) < 100
    assert max(map(len, lines)) < 200


@pytest.mark.parametrize(
    ("judged", "told"),
    [
        (PASSED, None),
        (NOT_GRADED, "not graded"),
        (ExerciseRecord("todo", 0, 2), "todo"),
        (
            ExerciseRecord("broken", 0, 2, (CheckRecord("t::e", "", "missing"),)),
            "broken: 0 of 1 checks passed\n\n    t::e",
        ),
    ],
)
def test_a_comment_fits_the_status(judged, told):
    assert comments.comment(judged) == told


def test_a_message_cannot_put_html_into_the_feedback():
    from nbconvert.filters import markdown2html

    hostile = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n```\n<b>"
    check = CheckRecord("t::f", "<i>title</i>", "failed", hostile)
    shown = markdown2html(comments.comment(ExerciseRecord("failed", 0, 2, (check, check))))
    assert "&lt;script&gt;" in shown
    assert not any(tag in shown for tag in ("<script", "<img", "<b>", "<i>"))


def test_scores_entered_for_other_points_are_brought_to_todays(any_db: str) -> None:
    gradebook.write(any_db, [student("ada", first=PARTIAL), student("bob", first=PASSED)], CATALOG)
    with opened(any_db) as book:
        book.find_grade("first", "e01_one", "e01_one", "bob").manual_score = 1.0
        book.db.commit()
    dearer = Catalog((Section("e01_one", "One", (exercise("first", "e01_one", 1, 3),)),))
    gradebook.write(any_db, [student("cy", first=ExerciseRecord("passed", 3.0, 3.0))], dearer)
    assert grade(any_db, "cy", "first") == (3.0, False, 3.0)
    assert grade(any_db, "ada", "first") == (2.25, False, 2.25)
    assert grade(any_db, "bob", "first") == (3.0, True, 1.0)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("{}/course/my book.db", "../course/my book.db"),
        ("sqlite:///{}/course/gradebook.db", "../course/gradebook.db"),
        ("postgresql+psycopg://ada:secret@db/kata", "postgresql+psycopg://ada@db/kata"),
    ],
)
def test_results_know_their_gradebook_and_no_password(tmp_path, url, address):
    results = tmp_path / "results"
    assert connection.kept(results) is None
    connection.keep(results, connection.place(url.format(tmp_path)))
    assert (results / ".gradebook").read_text("utf-8") == f"{address}\n"
    kept = connection.kept(results)
    assert kept is not None
    if "db/kata" in address:
        assert kept == address
    else:
        assert Path(kept).resolve() == (results / address).resolve()
