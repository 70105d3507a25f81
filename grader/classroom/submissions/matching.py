"""Names in a hand-in that the roster does not know: whose they may be, and the alias that settles it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.classroom.submissions.owners import student_of
from grader.classroom.submissions.platforms import Origin
from grader.course.roster import NOBODY, Roster, Student
from grader.course.roster_tables import participant


@dataclass(frozen=True)
class Proposal:
    """A name that is nobody's for sure, and whose it may be, the likeliest first; or as a table `told`."""

    called: str
    meant: tuple[Student, ...]
    told: bool = False


def proposals(origins: Iterable[Origin], roster: Roster, table: Roster = NOBODY) -> list[Proposal]:
    """What is to be settled, sorted by name.

    Of those who may be meant, who is there under a known name comes last. Where a platform's `table` tells
    whose a name is, the roster finds them by e-mail address, login or name.
    """
    names = {student_of(origin, roster) for origin in origins}
    there = {student.id for student in map(roster.find, names) if student}
    found = []
    for name in sorted(names):
        if roster.find(name) is None:
            told = _told(name, table, roster)
            meant = sorted(roster.meant(name), key=lambda student: student.id in there)
            found.append(Proposal(name, (told,) if told else tuple(meant), told=told is not None))
    return found


def _told(name: str, table: Roster, roster: Roster) -> Student | None:
    """Whose row of a platform's table the name is; where that has Moodle's numbers, by them alone."""
    row, number = table.find(name), re.search(r"\d+$", name)
    numbers = [alias for alias in row.aliases if alias.startswith(participant(""))] if row else []
    if row is None or (numbers and number and participant(number[0]) not in numbers):
        return None
    found = {student.id: student for student in map(roster.find, row.names) if student}
    return next(iter(found.values())) if len(found) == 1 else None


def likely(found: Iterable[Proposal]) -> list[tuple[Proposal, Student]]:
    """Those that a table told, and those with one student who may be meant, and by no other name."""
    every = list(found)
    count = Counter(student.id for one in every for student in one.meant)
    single = (one for one in every if len(one.meant) == 1)
    return [(one, one.meant[0]) for one in single if one.told or count[one.meant[0].id] == 1]


def alias(called: str, student: Student, roster: Roster) -> str:
    """What to write into the roster, where it can be without Moodle's number, which changes by assignment."""
    short = re.sub(r"_\d+$", "", called)
    others = tuple(one for one in roster.students if one.id != student.id)
    known = Roster((*others, replace(student, aliases=(*student.aliases, short))))
    found = known.find(called) if " " in short else None
    return short if found and found.id == student.id else called
