"""When each student's work came, kept among the results: no run forgets what an earlier one was told."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.course import paths
from grader.course.roster import NOBODY, Roster
from grader.records.records import read_json, write_json

FILE = ".times.json"


@dataclass(frozen=True)
class Arrival:
    """What is known of when a student's work on an assignment came. The first that is known counts.

    Args:
        told: the time that a table of times names.
        stamped: that of nbgrader's `timestamp.txt`, as it stands there.
        late: whether a platform marks the work as late; None where it tells nothing.
        withdrawn: a time that was told and is not any more: a gradebook may hold it still.
    """

    told: str = ""
    stamped: str = ""
    late: bool | None = None
    withdrawn: str = ""

    @property
    def time(self) -> str:
        """The time, as far as one is known."""
        return self.told or self.stamped

    @property
    def is_known(self) -> bool:
        """Whether there is a time, or a mark that says late."""
        return bool(self.time or self.late)

    def __str__(self) -> str:
        marked = "no time" if self.late is None else "LATE" if self.late else "not LATE"
        return shown(self.time) if self.time else marked


Arrivals = Mapping[tuple[str, str], Arrival]
"""By student and assignment."""


def stamp(moment: datetime) -> str:
    """A moment as it is kept, and as nbgrader writes it."""
    text = f"{moment.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S.%f}"
    return f"{text.removesuffix('.000000')} UTC"


def shown(time: str) -> str:
    """`22 Nov 2026 09:00Z`; what is no time, as it stands."""
    moment = _moment(time)
    if moment is None:
        return repr(time[:40])
    seconds = f":{moment:%S}" if moment.second else ""
    return f"{moment.day} {moment:%b %Y %H:%M}{seconds}Z"


def _moment(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time.replace(" UTC", "+00:00"))
    except ValueError:
        return None


def kept(results: Path, roster: Roster = NOBODY) -> dict[tuple[str, str], Arrival]:
    """What runs into these results were told so far; of whom the roster has an alias, under the student's id.

    Raises:
        KataError: the file is damaged, and nobody would be late any more.
    """
    file = results / FILE
    if not file.exists():
        return {}
    data: Any = read_json(file)
    try:
        rows = sorted(data.items(), key=lambda row: roster.id_of(row[0]) == row[0])  # the own name's last
        return {
            (roster.id_of(student), assignment): Arrival(**told)
            for student, own in rows
            for assignment, told in own.items()
        }
    except (AttributeError, TypeError):
        raise KataError(
            f"{paths.shown(file)}, which keeps when work came, is damaged: restore a copy, or take it away "
            "and give the table of times again with --times"
        ) from None


def keep(results: Path, arrivals: Arrivals) -> None:
    """Keep them, but for stamps that hold no time: whoever mends one will want it read again.

    Raises:
        KataError: they cannot be written.
    """
    rows: dict[str, dict[str, Any]] = {}
    for (student, assignment), arrival in sorted(arrivals.items()):
        known = arrival if _moment(arrival.stamped) else replace(arrival, stamped="")
        if told := {name: value for name, value in vars(known).items() if value not in ("", None)}:
            rows.setdefault(student, {})[assignment] = told
    if rows == (read_json(results / FILE) or {}):
        return
    try:
        write_json(results / FILE, rows)
    except OSError as error:
        raise KataError(
            f"cannot write {paths.shown(results / FILE)}: {error.strerror}; mend that and run again"
        ) from None


def changed(before: Arrivals, after: Arrivals) -> list[str]:
    """What is known otherwise than before: `ada week1 20 Nov 2026 11:58Z → 22 Nov 2026 09:00Z`."""
    moved = ((key, before[key], after[key]) for key in sorted(before.keys() & after.keys()))
    return [
        f"{student} {assignment} {old} → {new}"
        for (student, assignment), old, new in moved
        if str(old) != str(new) and old.is_known
    ]
