"""Who is in the course: `roster.csv` beside `course.toml`, or in the clone, if there is one.

student,name,email,aliases,section,extension
ada,Ada Lovelace,ada@example.org,countess;lovelaceada_12345,A,3

`student` is what results and gradebook call somebody. Aliases are what platforms do, with `;` between. An
extension is a number of days, or a date up to whose end (UTC) nothing is late. Tables that platforms export
are read, too. Nobody is guessed: a name is one student's for sure, or it is asked.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from grader.core.errors import KataError
from grader.core.file_names import is_portable
from grader.course import paths, roster_tables
from grader.course.near_names import NearNames
from grader.course.person_names import folded, readings, spellings, visible, words

FILE = "roster.csv"
MOST_DAYS = 366
_TOLD = ("name", "email", "section")
"""Columns that tables for other programs have, too."""
_NUMBERED = re.compile(r"(?P<name>.+)_(?P<id>\d+)", re.DOTALL)
"""What Canvas (`lovelaceada_12345`) and Moodle (`Ada Lovelace_1234567`) call a student."""
OF_CANVAS = re.compile(r"(?P<name>[^\W_A-Z]+)_(?P<id>\d+)")
"""Canvas alone, whose number is the student's everywhere."""
_COPIED = re.compile(r"(?P<name>.+?) ?\(\d{1,4}\)", re.DOTALL)
"""What a browser makes of a name that is there already."""
_CHOSEN = re.compile(r"[A-Za-z0-9-]+")
"""What a GitHub user may be called, who chose that: it says nothing for sure of a name."""
_MOST_LETTERS = 200
_MOST_MEANT = 5


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
    def _by_spelling(self) -> dict[str, list[Student]]:
        """Who has a name of these letters, in whichever order."""
        return _index(self.students, lambda s: {one for name in _names(s) for one in spellings(name)})

    def find(self, called: str) -> Student | None:
        """Who is called so for sure, in the roster or by a platform; None where it may be several, or nobody.

        Found by id, alias or e-mail, then by a name that nobody else has: its words in any order, with or
        without apostrophes, and as archives garble it that tell no encoding. A number at its end, as Canvas
        and Moodle have it, is not that of another student.
        """
        if exact := self._by_key.get(folded(called)):
            return exact
        claims = self._claims(called)
        return claims[0] if len(claims) == 1 and self._is_sure(claims[0], called) else None

    def meant(self, called: str) -> list[Student]:
        """Who may be meant by a name that is nobody's for sure, the likeliest first."""
        numbered, claims = _NUMBERED.fullmatch(called), self._claims(called)
        name = numbered["name"] if numbered else called
        ends = [] if claims else self._ending(name)
        near = [] if ends or self._named(name) else [self._by_key[folded(one)] for one in self._near.of(name)]
        return [*{student.id: student for student in (*claims, *ends, *near)}.values()][:_MOST_MEANT]

    def _ending(self, name: str) -> list[Student]:
        """Who is called what follows a hyphen, before which GitHub has an assignment, and Moodle a group."""
        parts = name.split("-")
        ends = ["-".join(parts[n:]).strip() for n in range(1, min(len(parts), 6))]
        known = (self._by_key.get(folded(end)) for end in ends)
        return [*filter(None, known), *(s for end in ends if " " in end for s in self._named(end))]

    def _claims(self, called: str) -> list[Student]:
        """All whose name this is, or whose number it ends with."""
        if numbered := _NUMBERED.fullmatch(called):
            found = [*self._named(numbered["name"]), *self._numbered(numbered["id"])]
        elif _CHOSEN.fullmatch(called):
            found = [s for s in self._named(called) if folded(called) in map(folded, _names(s))]
        else:
            found = self._named(called)
        if not found and (copied := _COPIED.fullmatch(called)):
            own = self._by_key.get(folded(copied["name"]))
            return [own] if own else self._claims(copied["name"])
        return [*{student.id: student for student in found}.values()]

    def _named(self, name: str) -> list[Student]:
        """Who has this name; where nobody has, who has one that an archive may have garbled so."""
        return self._spelled(name) or [s for reading in readings(name) for s in self._spelled(reading)]

    def _spelled(self, name: str) -> list[Student]:
        return [s for one in sorted(spellings(name)) for s in self._by_spelling.get(one, ())]

    def _numbered(self, number: str) -> list[Student]:
        found = (self._by_key.get(folded(one)) for one in (number, roster_tables.participant(number)))
        return [student for student in found if student]

    def _is_sure(self, student: Student, called: str) -> bool:
        """Whether the number that a name ends with agrees, too; on Moodle each assignment has its own."""
        numbered, keys = _NUMBERED.fullmatch(called), _keys(student)
        if numbered is None or folded(roster_tables.participant(numbered["id"])) in keys:
            return True
        of_canvas = OF_CANVAS.fullmatch(called) is not None
        if folded(numbered["id"]) in keys:
            return of_canvas or student in self._named(numbered["name"])
        numbers = (alias for alias in student.aliases if alias.isdigit() or OF_CANVAS.fullmatch(alias))
        return not of_canvas or next(numbers, None) is None

    @cached_property
    def _near(self) -> NearNames:
        return NearNames({student.id: student.names for student in self.students})

    def id_of(self, called: str) -> str:
        """What results call somebody; whoever is not in the roster keeps the name."""
        found = self.find(called)
        return found.id if found else called

    def label(self, student: str) -> str:
        """`Ada Lovelace (ada)`; of whom no name is known, what results call them."""
        found = self._by_key.get(folded(student))
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
        found = self._by_key.get(folded(student))
        return str(getattr(found, column)) if found else ""


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
    rows = roster_tables.rows(file)
    students = []
    for row in rows:
        where = f"{paths.shown(file)}, line {row['line']}"
        students.append(student := _student(row, where))
        keys = _keys(student)
        for key in keys & found.keys():
            other, there = found[key]
            raise KataError(f"{where}: {key[:40]!r} is {other!r} in {there} already; give each their own")
        found |= dict.fromkeys(keys, (student.id, f"line {row['line']}"))
    _expect_own_names(students, paths.shown(file))
    return Roster(tuple(students))


def _expect_own_names(students: Sequence[Student], where: str) -> None:
    """Raises KataError where somebody's id or alias is the name of another."""
    named = _index(students, lambda student: spellings(student.name))
    for student in students:
        own = spellings(student.name)
        for alias in (student.id, *student.aliases):
            others = {s.id for one in spellings(alias) - own for s in named.get(one, ())} - {student.id}
            if others and len(words(alias)) > 1:
                raise KataError(
                    f"{where}: {alias[:40]!r} of {student.id!r} is the name of {min(others)!r}; "
                    "give each their own"
                )


def _student(row: roster_tables.Row, where: str) -> Student:
    name = unicodedata.normalize("NFC", row["student"])
    if not name:
        raise KataError(f"{where}: the column student is empty; say what results are to call them")
    if not is_portable(name):
        raise KataError(
            f"{where}: {name[:40]!r} cannot be a student's name in files; take letters and digits"
        )
    cells = {column: visible(row[column]) for column in ("name", "email", "section")}
    for column, cell in cells.items():
        if len(cell) > _MOST_LETTERS:
            raise KataError(f"{where}: the {column} {cell[:40]!r}… has more than {_MOST_LETTERS} letters")
    aliases = tuple(alias.strip() for alias in row["aliases"].split(";") if alias.strip())
    extension = _extension(row["extension"], where)
    return Student(name, cells["name"], cells["email"], aliases, cells["section"], extension)


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
    return {folded(name) for name in (student.id, student.email, *student.aliases) if name}


def _names(student: Student) -> Iterable[str]:
    """What a person is called among people: no numbers, and an id where that is first and last name."""
    ids = (student.id,) if " " in student.id else ()
    return (name for name in (student.name, *student.aliases, *ids) if name and not re.search(r"\d", name))


_Value = TypeVar("_Value")


def _index(values: Iterable[_Value], keys: Callable[[_Value], Iterable[str]]) -> dict[str, list[_Value]]:
    found: dict[str, list[_Value]] = {}
    for value in values:
        for key in keys(value):
            found.setdefault(key, []).append(value)
    return found
