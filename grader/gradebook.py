"""Write results into an nbgrader gradebook: a section is an assignment, an exercise a grade cell."""

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from grader.bars import Progress, silent
from grader.catalog import Catalog, Exercise
from grader.errors import KataError
from grader.lateness import Arrival, Penalties, enter_time
from grader.results import CheckRecord, ExerciseRecord, StudentRecord
from grader.untrusted import plain

MAX_CHECKS = 5
MAX_LINES = 15
MAX_WIDTH = 160

_ADVICE = (
    ("locked", "another program is writing to it: close that one, or wait, and try again"),
    ("unable to open", "check that its folder exists and that you may write there"),
    ("readonly", "you may not write to it: change its permissions or name another gradebook"),
    ("disk is full", "free some space there and try again"),
    ("disk I/O error", "look after the disk that it lies on, and try again"),
    ("not a database", "it is no gradebook: name another file, or move this one away"),
    ("malformed", "the file is damaged: restore a copy, or move it away and grade again"),
    ("no such column", "it was made by an older nbgrader: run `nbgrader db upgrade`"),
)


def write(
    url: str,
    records: Iterable[StudentRecord],
    catalog: Catalog,
    arrivals: Mapping[str, Arrival] | None = None,
    progress: Progress = silent,
) -> list[str]:
    """Enter every record's scores and comments; return the problems, one line for each.

    `url` is any SQLAlchemy URL, or a bare path, which means SQLite. Manual scores, extra credit
    and manual comments stay as they are, and writing the same records again changes nothing.
    A student is written in one transaction: wholly or not at all. A student who cannot be
    written is a problem that is returned, and the next one follows; a gradebook that cannot be
    written raises `KataError`. `arrivals` tells by student when the work came: penalties for what came late
    are those of the course's `nbgrader_config.py`, which lies beside the gradebook or in the current folder.
    """
    students = list(records)
    address, shown = _address(url)
    penalties = Penalties(_folder(address))
    with _opened(address, shown) as gradebook:
        problems = _prepare(gradebook, students, catalog)
        for done, record in enumerate(students):
            progress(done, len(students))
            try:
                came = (arrivals or {}).get(record.student, Arrival())
                problems += _write_student(gradebook, record, catalog, came, penalties)
            except _one_students() as mistake:
                gradebook.db.rollback()
                problems.append(f"{record.student}: not written to the gradebook: {_first_line(mistake)}")
    return problems


def shown(url: str) -> str:
    """The gradebook's address as it may be printed: without its password."""
    return _address(url)[1]


def folder(url: str) -> Path:
    """Where the course is that a gradebook belongs to: around its file, or here for a server's."""
    return _folder(_address(url)[0])


def times(url: str) -> dict[tuple[str, str], datetime | None]:
    """When each student's work on each section came, as far as the gradebook knows."""
    from nbgrader.api import SubmittedAssignment

    with _opened(*_address(url)) as gradebook:
        return {(one.student.id, one.name): one.timestamp for one in gradebook.db.query(SubmittedAssignment)}


def _folder(address: Any) -> Path:
    is_file = address.get_backend_name() == "sqlite"
    return Path(address.database or "").absolute().parent if is_file else Path.cwd()


def _address(url: str) -> tuple[Any, str]:
    """The SQLAlchemy URL that is meant, and how to show it: never with its password."""
    try:
        from sqlalchemy.engine import URL, make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as missing:
        raise _not_installed(missing) from None
    if not url.strip():
        raise KataError("the gradebook has no name; give a file such as gradebook.db or a database URL")
    if "://" not in url:
        return URL.create("sqlite", database=url), url
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise KataError(
            "the gradebook's URL cannot be read; it looks like sqlite:///gradebook.db or "
            "postgresql://user:password@host/name"
        ) from None
    if address.get_backend_name() == "sqlite" and address.database in (None, "", ":memory:"):
        raise KataError(f"the gradebook {url} would be lost at once; name a file: sqlite:///gradebook.db")
    return address, address.render_as_string(hide_password=True)


@contextmanager
def _opened(address: Any, shown: str) -> Iterator[Any]:
    """nbgrader's gradebook at `address`; what goes wrong with the database becomes one line."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        from nbgrader.api import Gradebook, InvalidEntry
    except ImportError as missing:
        raise _not_installed(missing) from None
    # nbgrader logs a traceback before it raises; whoever called us gets one line instead.
    logging.getLogger("tornado.application").addHandler(logging.NullHandler())
    try:
        with _alembic_on_path():
            gradebook = Gradebook(address)
        with gradebook:
            yield gradebook
    except ImportError as missing:
        driver = missing.name or missing
        raise KataError(f"gradebook {shown}: its driver {driver} is not installed; pip install it") from None
    except (SQLAlchemyError, InvalidEntry, CalledProcessError, OSError) as broken:
        reason = _first_line(broken)
        advice = next((words for sign, words in _ADVICE if sign in reason), "check the address and try again")
        raise KataError(f"gradebook {shown}: {reason}; {advice}") from None


@contextmanager
def _alembic_on_path() -> Iterator[None]:
    """nbgrader runs the command `alembic` to make a new gradebook, which an environment that was
    not activated keeps beside its Python and off the PATH."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([before, str(Path(sys.executable).parent)])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _not_installed(missing: ImportError) -> KataError:
    return KataError(f"a gradebook needs nbgrader ({missing}); pip install 'torchkata[class]'")


def _one_students() -> tuple[type[Exception], ...]:
    """What one student's data can cause; any other database error is the gradebook's own."""
    from sqlalchemy.exc import DataError, IntegrityError

    return (DataError, IntegrityError, ValueError)


def _first_line(mistake: Exception) -> str:
    """The driver's own words, without SQLAlchemy's statement and parameters."""
    text = str(getattr(mistake, "orig", None) or mistake).strip()
    return text.splitlines()[0] if text else type(mistake).__name__


def _known(record: StudentRecord, catalog: Catalog) -> list[tuple[Exercise, ExerciseRecord]]:
    return [(e, record.exercises[e.slug]) for e in catalog.exercises if e.slug in record.exercises]


def _prepare(gradebook: Any, students: list[StudentRecord], catalog: Catalog) -> list[str]:
    """Make the assignments and cells that the records need; return a line for each unknown exercise.

    All cells come before the first submission, which copies the cells that it finds.
    """
    slugs = {slug for record in students for slug in record.exercises}
    for section in catalog.sections:
        exercises = [e for e in section.exercises if e.slug in slugs]
        if not exercises:
            continue
        gradebook.update_or_create_assignment(section.name)
        gradebook.update_or_create_notebook(section.name, section.name)
        for exercise in exercises:
            place = (section.name, section.name)
            points, answer = float(exercise.points), answer_cell(exercise.slug)
            gradebook.update_or_create_grade_cell(exercise.slug, *place, max_score=points, cell_type="code")
            gradebook.update_or_create_solution_cell(answer, *place)
            for cell in (exercise.slug, answer):
                gradebook.update_or_create_source_cell(cell, *place, cell_type="code")
    unknown = sorted(slugs - {e.slug for e in catalog.exercises})
    return [f"{slug}: not written to the gradebook: the catalog has no such exercise" for slug in unknown]


def _write_student(
    gradebook: Any, record: StudentRecord, catalog: Catalog, came: Arrival, penalties: Penalties
) -> list[str]:
    """Enter one student; return what could not be entered of it."""
    from nbgrader.api import MissingEntry, Student

    # The session is used directly because every method of nbgrader's that adds something commits.
    try:
        student = gradebook.find_student(record.student)
    except MissingEntry:
        student = Student(id=record.student)
        gradebook.db.add(student)
    exercises = _known(record, catalog)
    problems = []
    for section in dict.fromkeys(exercise.section for exercise, _ in exercises):
        grades, comments = _cells(gradebook, section, student)
        for exercise, judged in exercises:
            if exercise.section == section:
                _enter(grades[exercise.slug], judged, exercise)
                comments[answer_cell(exercise.slug)].auto_comment = comment(judged)
        notebook = next(iter(grades.values())).notebook
        try:
            enter_time(notebook.assignment, section, came)
        except ValueError as unread:
            problems.append(f"{record.student}: {unread}; entered without a time")
        gradebook.db.flush()
        penalties.assign(notebook)
    gradebook.db.commit()
    return problems


def _cells(gradebook: Any, section: str, student: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The student's grades and comments in the section, by exercise.

    Does what nbgrader's `add_submission` does, and also for a submission that is older than
    some of the assignment's cells.
    """
    from nbgrader.api import Comment, Grade, MissingEntry, SubmittedAssignment, SubmittedNotebook

    db = gradebook.db
    assignment = gradebook.find_assignment(section)
    try:
        submission = gradebook.find_submission(section, student.id)
    except MissingEntry:
        submission = SubmittedAssignment(assignment=assignment, student=student)
        db.add(submission)
    grades, comments = {}, {}
    submitted = {one.notebook_id: one for one in submission.notebooks}
    for notebook in assignment.notebooks:
        mine = submitted.get(notebook.id) or SubmittedNotebook(notebook=notebook, assignment=submission)
        db.add(mine)
        graded = {grade.cell_id: grade for grade in mine.grades}
        commented = {remark.cell_id: remark for remark in mine.comments}
        for cell in [*notebook.grade_cells, *notebook.task_cells]:
            if cell.id not in graded:
                graded[cell.id] = Grade(cell_id=cell.id, notebook=mine)
        for cell in [*notebook.solution_cells, *notebook.task_cells]:
            if cell.id not in commented:
                commented[cell.id] = Comment(cell_id=cell.id, notebook=mine)
        db.add_all([*graded.values(), *commented.values()])
        if notebook.name == section:
            grades = {cell.name: graded[cell.id] for cell in notebook.grade_cells}
            comments = {cell.name: commented[cell.id] for cell in notebook.solution_cells}
    return grades, comments


def answer_cell(slug: str) -> str:
    """The name of the cell that holds an answer; the cell that grades it bears the exercise's own."""
    return f"{slug}-answer"


def _enter(grade: Any, judged: ExerciseRecord, exercise: Exercise) -> None:
    """Set the automatic score, between zero and the points: nbgrader would accept 99 of 4."""
    score = None if judged.needs_manual_grade else min(max(0.0, judged.score), float(exercise.points))
    changed, grade.auto_score = grade.auto_score != score, score
    if grade.manual_score is None:
        grade.needs_manual_grade = score is None
    elif changed:
        # As nbgrader does: somebody graded what has changed since, and should look again.
        grade.needs_manual_grade = True


def comment(judged: ExerciseRecord) -> str | None:
    """What the student reads beside the score: the checks that did not pass, and why.

    All but the first line is indented by four, which nbgrader's feedback shows as it stands:
    it renders comments as Markdown, and a message may quote what an answer made up.
    """
    if judged.status == "passed":
        return None
    ran = [check for check in judged.checks if check.outcome != "not_graded"]
    missed = [check for check in ran if check.outcome != "passed"]
    status = judged.status.replace("_", " ")
    if not ran:
        return status
    told = [f"{status}: {len(ran) - len(missed)} of {len(ran)} checks passed"]
    for check in missed[:MAX_CHECKS]:
        told += ["", *_lines(check)]
    if len(missed) > MAX_CHECKS:
        told += ["", f"    and {len(missed) - MAX_CHECKS} more that did not pass"]
    return "\n".join(told)


def _lines(check: CheckRecord) -> list[str]:
    title = " ".join(plain(check.title or check.id).split())
    message = plain(check.message).strip("\n").splitlines()
    if len(message) > MAX_LINES:
        message[MAX_LINES:] = ["..."]
    return [f"    {line[:MAX_WIDTH]}".rstrip() for line in [title, *(f"  {line}" for line in message)]]
