"""Tables of students: our own, and those that Canvas, Moodle and GitHub Classroom export.

Canvas's gradebook (`lib/gradebook_exporter.rb` of instructure/canvas-lms), Moodle's grading worksheet
(`locallib.php` of assignfeedback_offline), its list of participants and its grades, GitHub Classroom's
`classroom_roster.csv` and its grades. They call a student what the institution does: by the login or number,
where there is none by the e-mail address, else by the name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.core.file_names import is_portable
from grader.course import paths
from grader.course.person_names import visible, words

Row = Mapping[str, str]
"""Cells by the names of our columns, and `line`. Aliases have `;` between them."""

_OWN = {"aliases": ("aliases",), "extension": ("extension",)}
"""Columns that may be added to a platform's."""
_OURS = {
    "student": ("student",),
    "name": ("name", "full name"),
    "email": ("email", "e-mail", "mail", "email address"),
    "section": ("section",),
    **_OWN,
}
_CANVAS = {
    **{"name": ("student",), "first": ("firstname",), "last": ("lastname",), "number": ("id",)},
    **{"sis": ("sis user id",), "login": ("sis login id",), "section": ("section",), **_OWN},
}
_MOODLE = {
    **{"participant": ("identifier",), "name": ("full name",), "first": ("first name",)},
    **{"last": ("last name", "surname"), "email": ("email address",), "number": ("id number",)},
    **{"login": ("username",), "section": ("groups", "group"), **_OWN},
}
_GITHUB = {
    **{"own": ("roster_identifier", "identifier"), "user": ("github_username",)},
    **{"name": ("name",), **_OWN},
}
MOST_STUDENTS = 100_000
POINTS = "points possible"
"""How the row of Canvas's export that is nobody's begins, but for spaces."""
TEST_STUDENT = "Student, Test"
"""Whom Canvas makes up for each teacher."""


@dataclass(frozen=True)
class _Table:
    """A kind of table: what its columns may be called, and what a row of it tells."""

    columns: Mapping[str, Sequence[str]]
    needed: Sequence[str]
    told: Callable[[Row], Row]


def rows(file: Path) -> list[Row]:
    """The rows that are students', of a table of any of these kinds.

    Raises:
        KataError: it cannot be read, or is none of them.
    """
    header, body = spreadsheet.table(file)
    if len(body) > MOST_STUDENTS:
        raise KataError(f"{paths.shown(file)} has more than {MOST_STUDENTS} students; name one course's")
    kind = _kind([cell.strip().casefold() for cell in header], [row for _, row in body])
    found = spreadsheet.rows(file, kind.columns, kind.needed)
    return [{**dict.fromkeys(_OURS, ""), **kind.told(row)} for row in found if not _is_nobody(row, kind)]


def is_canvas(header: Sequence[str]) -> bool:
    """Whether a table's first row, in small letters, is that of an export of Canvas's gradebook."""
    begin = (["student", "id"], ["lastname", "firstname", "id"])
    return "section" in header and any(header[: len(first)] == first for first in begin)


def _kind(header: list[str], body: Sequence[Sequence[str]]) -> _Table:
    has_points = any(row[0].strip().casefold() == POINTS for row in body)
    if is_canvas(header) and (has_points or "sis login id" in header):
        return _Table(_CANVAS, ["number"], _of_canvas)
    if "student" in header:
        return _Table(_OURS, ["student"], lambda row: row)
    if "github_username" in header:
        return _Table(_GITHUB, ["user"], _of_github)
    if "identifier" in header or {"first name", "email address"} <= {*header}:
        return _Table(_MOODLE, [], _of_moodle)
    return _Table(_OURS, ["student"], lambda row: row)


def _is_nobody(row: Row, kind: _Table) -> bool:
    if kind.told is not _of_canvas:
        return False
    name = row["name"]
    return not (name or row["number"]) or name.casefold() == POINTS or name == TEST_STUDENT


def _of_canvas(row: Row) -> Row:
    name = row["name"] or _joined(row["last"], row["first"])
    last, _, first = name.partition(",")
    called = "".join(words(f"{last} {first}")) or "student"
    student = _id(row["login"], row["sis"], row["number"])
    aliases = [f"{called}_{row['number']}" if row["number"] else "", row["number"], row["sis"], row["login"]]
    email = row["login"] if "@" in row["login"] else ""
    return {
        **row,
        "student": student,
        "name": name,
        "email": email,
        "aliases": _listed(row, student, aliases),
    }


def _of_moodle(row: Row) -> Row:
    name = row["name"] or _joined(row["last"], row["first"])
    number = re.search(r"\d+$", row["participant"])
    student = _id(row["login"], row["number"], row["email"], name, row["participant"])
    aliases = [row["login"], row["number"], participant(number[0]) if number else ""]
    return {**row, "student": student, "name": name, "aliases": _listed(row, student, aliases)}


def _of_github(row: Row) -> Row:
    student = _id(row["own"], row["user"])
    email = row["own"] if "@" in row["own"] else ""
    return {
        **row,
        "student": student,
        "email": email,
        "aliases": _listed(row, student, [row["own"], row["user"]]),
    }


def _id(*names: str) -> str:
    """The first that can be a file's name, as `DOMAIN\\ada` cannot."""
    told = [name for name in names if name]
    return next(filter(is_portable, told), next(iter(told), ""))


def participant(number: str) -> str:
    """What Moodle calls somebody in one assignment, whose names of folders end with that number."""
    return f"Participant {number}"


def _joined(last: str, first: str) -> str:
    return f"{last}, {first}" if last and first else last or first


def _listed(row: Row, student: str, aliases: Sequence[str]) -> str:
    told = [alias for alias in dict.fromkeys(map(visible, aliases)) if alias and alias != student]
    return ";".join([*told, *filter(None, [row["aliases"]])])
