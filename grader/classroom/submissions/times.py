"""When work came, from a table that a platform exports: `--times FILE`.

Our own columns are student, assignment and time; Moodle's grading worksheet, the grades of GitHub Classroom
and Gradescope, and rows of Canvas's API are understood as they are. Of several rows the latest counts, as
platforms hand out the last submission. An empty time withdraws the one that was told before, where its row
names the assignment: those of platforms are empty for who handed in nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from grader.classroom.submissions import moments
from grader.classroom.submissions.arrived import answered
from grader.classroom.submissions.class_folder import Submission, listed
from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.roster import Roster
from grader.records.arrivals import stamp

_COLUMNS = {
    "student": ("student", "github_username", "username", "login", "login_id", "sis login id", "sid"),
    "number": ("identifier", "user_id"),
    "name": ("full name", "name"),
    "email": ("email", "e-mail", "email address"),
    "assignment": ("assignment",),
    "time": (
        *("time", "submission_timestamp", "submitted at", "submitted_at", "submission time"),
        "last modified (submission)",
    ),
}


@dataclass(frozen=True)
class SubmissionTimes:
    """What a table tells: times by student and assignment, an empty one where none is to count any more."""

    times: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


NOTHING = SubmissionTimes()


def read(
    file: Path, work: Iterable[Submission], judged: Collection[Exercise], catalog: Catalog, roster: Roster
) -> SubmissionTimes:
    """The times in `file` of those who handed in something now.

    Where a row names no assignment, its time is that of all that is judged and that the student handed in.

    Raises:
        KataError: the file cannot be read, or a time or an assignment in it is none.
    """
    there = {submission.student: submission for submission in work}
    known = {assignment.name for assignment in catalog.assignments}
    found: dict[tuple[str, str], list[datetime]] = {}
    unknown: dict[str, None] = {}
    rows = {f"{paths.shown(file)}, line {r['line']}": r for r in spreadsheet.rows(file, _COLUMNS, ["time"])}
    rows = {where: row for where, row in rows.items() if _tells(row)}
    read = moments.read({where: row["time"] for where, row in rows.items() if row["time"]})
    owner = _owners(there, roster)
    for where, row in rows.items():
        if row["assignment"] and row["assignment"] not in known:
            raise KataError(
                f"{where}: there is no assignment {row['assignment'][:60]!r}; leave it out for all"
            )
        student = owner(row)
        if student is None:
            unknown.update(dict.fromkeys([*_called(row)][:1]))
            continue
        for assignment in [row["assignment"]] if row["assignment"] else answered(there[student], judged):
            times = found.setdefault((student, assignment), [])
            if where in read:
                times.append(read[where].astimezone(timezone.utc))  # without a zone, this machine's
    notes = listed(f"times of {paths.shown(file)} for nobody who is here", [*unknown])
    if any(moment.tzinfo is None for moment in read.values()):
        notes += (f"{paths.shown(file)} names no time zone: read in this machine's",)
    return SubmissionTimes({key: stamp(max(times)) if times else "" for key, times in found.items()}, notes)


def _tells(row: Mapping[str, str]) -> bool:
    return row["time"] not in ("", "-") or bool(row["assignment"] and not row["time"])


def _owners(there: Collection[str], roster: Roster) -> Callable[[Mapping[str, str]], str | None]:
    """Whose row is which: found by what it calls somebody, or by an id that only one name ends with."""
    ids: dict[str, set[str]] = defaultdict(set)
    for student in there:
        known = roster.find(student)
        for name in known.names if known else (student,):
            ids[name.rpartition("_")[2]].add(student)

    def owner(row: Mapping[str, str]) -> str | None:
        called = (roster.id_of(name) for name in _called(row))
        same = ids.get(_number(row), set())
        return next((one for one in called if one in there), next(iter(same)) if len(same) == 1 else None)

    return owner


def _called(row: Mapping[str, str]) -> Iterator[str]:
    """What the student of a row may be called, the surest first."""
    if row["name"] and _number(row):
        yield f"{row['name']}_{_number(row)}"
    yield from (row[column] for column in ("student", "email", "name", "number") if row[column])


def _number(row: Mapping[str, str]) -> str:
    """The id that ends Canvas's and Moodle's names: 1234567 of "Participant 1234567"."""
    found = re.search(r"\d+$", row["number"])
    return found[0] if found else ""
