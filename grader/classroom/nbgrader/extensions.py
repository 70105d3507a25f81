"""Extensions of the course's roster in the gradebook: granted, changed, and taken back.

nbgrader does not tell who granted an extension. So what the roster did is kept among the results, and that
alone is taken back.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from grader.course.roster import NOBODY, Roster
from grader.records.records import read_json, write_json

_FILE = ".extensions"


class Extensions:
    """What the roster has granted, by student and assignment; kept in the folder `results`, if any."""

    def __init__(self, results: Path | None = None, roster: Roster = NOBODY) -> None:
        self._file = results and results / _FILE
        self._taken: set[tuple[str, str]] = set()
        self._granted: dict[tuple[str, str], timedelta] = {}
        with suppress(AttributeError, TypeError):  # there is none yet, or it is damaged
            kept: Any = read_json(self._file) if self._file else None
            for student, granted in kept.items():
                for name, seconds in granted.items():
                    self._granted[roster.id_of(student), name] = timedelta(seconds=seconds)

    def grant(self, submission: Any, extension: timedelta | datetime | None) -> None:
        """Grant one of nbgrader's submitted assignments days, or the time up to a moment (UTC).

        Nothing takes back what was granted here before. What a person has granted since stays, and so does
        everything where nothing is due.
        """
        key, due = (submission.student.id, submission.assignment.name), submission.assignment.duedate
        if extension is None:
            if key in self._granted and submission.extension == self._granted[key]:
                submission.extension = None
            self._taken.add(key)
        elif due is not None:
            given = extension - due if isinstance(extension, datetime) else extension
            submission.extension = given if given > timedelta(0) else None
            if submission.extension is None:
                self._taken.add(key)
            elif self._granted.get(key) != given:
                self._granted[key] = given
                self._keep()  # first: what is kept and was not written takes nothing back

    def renew(self, submission: Any) -> None:
        """Grant what the roster has granted before to a submission that is new to its gradebook."""
        submission.extension = self._granted.get((submission.student.id, submission.assignment.name))

    def settle(self, student: str) -> None:
        """The student has been written: what was taken back is granted no more."""
        gone = {key for key in self._taken & self._granted.keys() if key[0] == student}
        for key in gone:
            del self._granted[key]
        if gone:
            self._keep()

    def _keep(self) -> None:
        rows: dict[str, dict[str, float]] = {}
        for (student, name), granted in self._granted.items():
            rows.setdefault(student, {})[name] = granted.total_seconds()
        if self._file:
            write_json(self._file, rows)
