"""Who is in the course: `roster.csv` beside `course.toml`, or in the clone, if there is one.

student,name,email,aliases,section,extension
ada,Ada Lovelace,ada@example.org,countess;lovelaceada_12345,A,3

`student` is what results and gradebook call somebody. Aliases are what platforms do, with `;` between. An
extension is a number of days, or a date up to whose end (UTC) nothing is late.
"""

import difflib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path

from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.course import paths

FILE = "roster.csv"
MOST_DAYS = 366
_COLUMNS = {
    "student": ("student",),
    "name": ("name", "full name"),
    "email": ("email", "e-mail", "mail", "email address"),
    "aliases": ("aliases",),
    "section": ("section",),
    "extension": ("extension",),
}
_TOLD = ("name", "email", "section")
"""Columns that tables for other programs have, too."""
_NUMBERED = re.compile(r"(?P<name>.+)_(?P<id>\d+)", re.DOTALL)
"""What Canvas (`lovelaceada_12345`) and Moodle (`Ada Lovelace_1234567`) call a student."""


@dataclass(frozen=True)
class Student:
    """Somebody in the course. `extension` is a number of days, or the moment up to which nothing is late."""

    id: str
    name: str = ""
    email: str = ""
    aliases: tuple[str, ...] = ()
    section: str = ""
    extension: timedelta | datetime | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All that somebody may be called, what results do first."""
        return tuple(name for name in (self.id, *self.aliases, self.email, self.name) if name)

    @property
    def first_and_last(self) -> tuple[str, str]:
        """The name in two parts: `Lovelace, Ada` at its comma, `Ada King Lovelace` before its last word."""
        last, comma, first = self.name.partition(",")
        if comma:
            return first.strip(), last.strip()
        first, _, last = self.name.rpartition(" ")
        return first.strip(), last


@dataclass(frozen=True)
class Roster:
    """The course's students; of a course that has no list, nobody."""

    students: tuple[Student, ...] = ()

    @cached_property
    def _by_key(self) -> dict[str, Student]:
        return {key: student for student in self.students for key in _keys(student)}

    @cached_property
    def _by_name(self) -> dict[str, Student]:
        """Those whose names nobody else has."""
        count = Counter(_key(student.name) for student in self.students)
        return {_key(s.name): s for s in self.students if s.name and count[_key(s.name)] == 1}

    def find(self, called: str) -> Student | None:
        """Who is called so, in the roster or by a platform: by id, alias or e-mail, then by an only name."""
        if exact := self._by_key.get(_key(called)) or self._by_name.get(_key(called)):
            return exact
        if numbered := _NUMBERED.fullmatch(called):
            return self._by_name.get(_key(numbered["name"])) or self._by_key.get(numbered["id"])
        return None

    def id_of(self, called: str) -> str:
        """What results call somebody; whoever is not in the roster keeps the name."""
        found = self.find(called)
        return found.id if found else called

    def label(self, student: str) -> str:
        """`Ada Lovelace (ada)`; of whom no name is known, what results call them."""
        found = self._by_key.get(_key(student))
        return f"{found.name} ({student})" if found and found.name else student

    @cached_property
    def told(self) -> list[str]:
        """Which of name, e-mail and section the roster tells of anybody."""
        return [column for column in _TOLD if any(getattr(student, column) for student in self.students)]

    @property
    def has_sections(self) -> bool:
        return "section" in self.told

    def of(self, student: str, column: str) -> str:
        """What a column says of whom results call so; nothing of who is not in the roster."""
        found = self._by_key.get(_key(student))
        return str(getattr(found, column)) if found else ""

    def nearest(self, called: str) -> Student | None:
        """Who may be meant by a name that nobody has."""
        known = {**self._by_key, **self._by_name}
        numbered = _NUMBERED.fullmatch(called)
        close = difflib.get_close_matches(_key(numbered["name"] if numbered else called), known, n=1)
        return known[close[0]] if close else None


NOBODY = Roster()


def load(file: Path | None = None) -> Roster:
    """The roster in `file`, else the course's own; nobody where there is none.

    Raises:
        KataError: the file is not there, cannot be read, or a row of it cannot be meant.
    """
    named, file = file is not None, file or paths.COURSE / FILE
    if not named and not file.exists():
        return NOBODY
    found: dict[str, tuple[str, str]] = {}
    students = []
    for row in spreadsheet.rows(file, _COLUMNS, ["student"]):
        where = f"{paths.shown(file)}, line {row['line']}"
        students.append(student := _student(row, where))
        for key in _keys(student):
            if key in found:
                other, there = found[key]
                raise KataError(f"{where}: {key!r} is {other!r} in {there} already; give each their own")
        found |= dict.fromkeys(_keys(student), (student.id, f"line {row['line']}"))
    return Roster(tuple(students))


def _student(row: dict[str, str], where: str) -> Student:
    name = row["student"]
    if not name:
        raise KataError(f"{where}: the column student is empty; say what results are to call them")
    if not name.isprintable() or "/" in name or name.startswith(".") or len(name.encode()) > 160:
        raise KataError(
            f"{where}: {name[:40]!r} cannot be a student's name in files; take letters and digits"
        )
    aliases = tuple(alias.strip() for alias in row["aliases"].split(";") if alias.strip())
    extension = _extension(row["extension"], where)
    return Student(name, row["name"], row["email"], aliases, row["section"], extension)


def _extension(cell: str, where: str) -> timedelta | datetime | None:
    if not cell:
        return None
    try:
        if re.fullmatch(r"\d+([.,]\d+)?", cell) and float(cell.replace(",", ".")) <= MOST_DAYS:
            return timedelta(days=float(cell.replace(",", ".")))
        return datetime.combine(date.fromisoformat(cell), time.max)
    except ValueError:
        raise KataError(
            f"{where}: the extension {cell[:40]!r} is neither days (3) nor a date (2026-11-25)"
        ) from None


def _keys(student: Student) -> set[str]:
    return {_key(name) for name in (student.id, student.email, *student.aliases) if name}


def _key(name: str) -> str:
    """How names are compared: case and the form of accents do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
