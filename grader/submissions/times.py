"""When work came, from a table that a platform exports: `--times FILE`.

Our own columns are student, assignment and time; Moodle's grading worksheet and GitHub Classroom's grades are
understood as they are. Without an assignment a time is that of all that the student handed in. Of several
rows the latest counts, as platforms hand out the last submission.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import Roster
from grader.submissions.class_folder import Classwork, Submission, listed

_COLUMNS = {
    "student": ("student", "github_username", "username", "login"),
    "number": ("identifier",),
    "name": ("full name", "name"),
    "email": ("email", "e-mail", "email address"),
    "assignment": ("assignment",),
    "time": ("time", "submission_timestamp", "submitted at", "submitted_at", "last modified (submission)"),
}
_FORMATS = ("%A, %d %B %Y, %I:%M %p", "%d %B %Y, %I:%M %p", "%Y-%m-%d %H:%M:%S UTC")
"""Moodle's, and what GitHub Classroom and nbgrader write."""


def entered(work: Classwork, file: Path, catalog: Catalog, roster: Roster) -> Classwork:
    """The class with the times in `file`, which count more than those that came with the work.

    Raises:
        KataError: the file cannot be read, or a time or an assignment in it is none.
    """
    there = {submission.student: submission for submission in work.submissions}
    known = {assignment.name for assignment in catalog.assignments}
    found: dict[str, dict[str, datetime]] = {}
    unknown: dict[str, None] = {}
    zoneless = False
    for row in spreadsheet.rows(file, _COLUMNS, ["time"]):
        where = f"{paths.shown(file)}, line {row['line']}"
        if row["time"] in ("", "-"):
            continue
        time = _time(row["time"], where)
        zoneless = zoneless or time.tzinfo is None
        if row["assignment"] and row["assignment"] not in known:
            raise KataError(
                f"{where}: there is no assignment {row['assignment'][:60]!r}; leave it out for all"
            )
        called = [*_called(row)]
        ids = [roster.id_of(name) for name in called]
        student = next((one for one in ids if one in there), None)
        if student is None:
            unknown.update(dict.fromkeys(called[:1]))
            continue
        moment = time.astimezone(timezone.utc)  # without a zone, this machine's
        for assignment in [row["assignment"]] if row["assignment"] else _answered(there[student], catalog):
            times = found.setdefault(student, {})
            times[assignment] = max(moment, times.get(assignment, moment))
    notes = listed(f"times of {paths.shown(file)} for nobody who is here", [*unknown])
    notes += (f"{paths.shown(file)} names no time zone: read in this machine's",) if zoneless else ()
    timed = tuple(_timed(submission, found.get(submission.student, {})) for submission in work.submissions)
    return replace(work, submissions=timed, notes=work.notes + notes)


def _called(row: Mapping[str, str]) -> Iterator[str]:
    """What the student of a row may be called, the surest first."""
    number = re.search(r"\d+$", row["number"])  # "Participant 1234567", with which Moodle's folders end
    if row["name"] and number:
        yield f"{row['name']}_{number[0]}"
    yield from (row[column] for column in ("student", "email", "name") if row[column])


def _answered(submission: Submission, catalog: Catalog) -> list[str]:
    there = submission.answers.keys() | submission.problems.keys()
    return [*{exercise.assignment: None for exercise in catalog.exercises if exercise.slug in there}]


def _time(text: str, where: str) -> datetime:
    with suppress(ValueError):
        return datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text))
    for form in _FORMATS:
        with suppress(ValueError):
            read = datetime.strptime(text, form)
            return read.replace(tzinfo=timezone.utc) if form.endswith("UTC") else read
    raise KataError(f"{where}: {text[:60]!r} is no time that is known; write 2026-11-20 23:59:00+01:00")


def _timed(submission: Submission, times: Mapping[str, datetime]) -> Submission:
    stamps = {name: f"{time:%Y-%m-%d %H:%M:%S} UTC" for name, time in times.items()}
    return replace(submission, times={**submission.times, **stamps})
