"""Whom and what Canvas knows: an export of its gradebook, saved as `canvas.csv` among the results."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.course import paths
from grader.course import roster as course
from grader.course.person_names import folded, spellings
from grader.course.roster_tables import is_canvas

FILE = "canvas.csv"
STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"


@dataclass(frozen=True)
class CanvasExport:
    """What an export of Canvas's gradebook says: its students' columns, and assignments' headers by title."""

    students: Sequence[Mapping[str, str]] = ()
    assignments: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def header(self, *names: str) -> str:
        """The header of the assignment that is called one of these; "" where there is none.

        Raises:
            KataError: two are.
        """
        found = [header for name in dict.fromkeys(names) for header in self.assignments.get(name, ())]
        if len(found) > 1:
            raise KataError(
                f"{FILE} has more than one assignment for {names[0]}: {' and '.join(found)}; rename one in "
                "Canvas and export its gradebook again, or take its column out of the file"
            )
        return "".join(found)

    def find(self, told: course.Student) -> list[Mapping[str, str]]:
        """The rows that may be a student's: by the id in names of files, by SIS ids, by the id, by a name."""
        names = [*told.names]
        ids = [canvas["id"] for name in names if (canvas := course.OF_CANVAS.fullmatch(name))]
        for column, known in (("ID", ids), ("SIS Login ID", names), ("SIS User ID", names), ("ID", names)):
            wanted = {folded(name) for name in known} - {""}
            if found := [row for row in self.students if folded(row.get(column) or "") in wanted]:
                return found
        whole = {one for name in names for one in spellings(name)}
        return [row for row in self.students if spellings(row.get("Student") or "") & whole]


def load_roster(results: Path) -> CanvasExport | None:
    """The roster among the results, if there is one."""
    file = results / FILE
    if not file.is_file():
        return None
    header, body = spreadsheet.table(file)
    if not is_canvas([cell.casefold() for cell in header]):
        raise KataError(
            f"{paths.shown(file)} is no export of Canvas's gradebook (its first columns are not Student, ID, "
            "…, Section); export it again there, or take the file away"
        )
    assignments: dict[str, list[str]] = {}
    for cell in header[header.index("Section") + 1 :]:
        if titled := re.fullmatch(r"(.+?) \(\d+\)", cell):
            assignments.setdefault(titled[1], []).append(cell)
    rows = [dict(zip(header, row, strict=False)) for _, row in body if POINTS.strip() not in row[0]]
    return CanvasExport([{"Student": ", ".join([*row.values()][:2]), **row} for row in rows], assignments)
