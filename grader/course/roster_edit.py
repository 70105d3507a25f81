"""Aliases written into a list of students, in which every other letter stays as it is."""

import csv
import io
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.course import paths, roster, roster_tables

_ALIASES = "aliases"


@dataclass
class _Row:
    """A row by its line: what its cells say, how they are written, and how it ends."""

    line: int
    says: list[str]
    cells: list[str]
    end: str


def add(file: Path, aliases: Mapping[str, Sequence[str]], strangers: Sequence[str] = ()) -> None:
    """Give students further aliases, by their ids, and add others who have nothing but an id.

    Raises:
        KataError: the file cannot be written, or would be no roster any more; it stays then.
    """
    place = file.resolve()  # where a link leads
    held, known = spreadsheet.text(place), roster.load(place).students
    lines = {row["line"]: one.id for row, one in zip(roster_tables.rows(place), known, strict=True)}
    content = _edited(held.content, lines, aliases)
    content = _longer(content, strangers) if strangers else content
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", suffix=".csv", delete=False) as stream:
            stream.write(held.encoded(content))
        written = Path(stream.name)
        try:
            _expect_roster(written, file)
            written.chmod(place.stat().st_mode)
            written.replace(place)
        finally:
            written.unlink(missing_ok=True)
    except OSError as error:
        raise KataError(
            f"cannot write {paths.shown(file)}: {error.strerror}; mend that and run again"
        ) from None


def _expect_roster(written: Path, file: Path) -> None:
    try:
        roster.load(written)
    except KataError as error:
        told = str(error).replace(paths.shown(written), paths.shown(file)).replace(str(written), str(file))
        raise KataError(f"{told} ({paths.shown(file)} stays as it is)") from None


def _edited(content: str, students: Mapping[str, str], aliases: Mapping[str, Sequence[str]]) -> str:
    between, rows = spreadsheet.between(content), [*_read(content)]
    table = [row for row in rows if spreadsheet.is_row(row.says)]
    header = [cell.strip().casefold() for cell in table[0].says]
    at = header.index(_ALIASES) if _ALIASES in header else len(header)
    if at == len(header):
        table[0].cells.append(_ALIASES)
    for row in table[1:]:
        row.cells += [""] * (at + 1 - len(row.cells))
        if more := aliases.get(students.get(str(row.line), "")):
            before = row.says[at] if at < len(row.says) else ""
            text = ";".join(filter(None, [before.strip(" ;"), *more]))
            is_formula = text.startswith(("=", "+", "-", "@"))  # to a spreadsheet; an empty alias is none
            row.cells[at] = _cell(f";{text}" if is_formula else text, between)
    return "".join(between.join(row.cells) + row.end for row in rows)


def _longer(content: str, students: Sequence[str]) -> str:
    """The same with a row for each of these, who have nothing but an id."""
    between, rows = spreadsheet.between(content), [*_read(content)]
    header = next(row for row in rows if spreadsheet.is_row(row.says))
    names = [cell.strip().casefold() for cell in header.says]
    if "student" not in names or roster_tables.is_canvas(names):
        raise KataError(
            "only a roster with a column student of its own takes further students; add them there"
        )
    end = header.end or "\n"
    for student in students:
        cells = [_cell(student, between) if name == "student" else "" for name in names]
        content += ("" if content.endswith(("\r", "\n")) else end) + between.join(cells) + end
    return content


def _read(content: str) -> Iterator[_Row]:
    between, done = spreadsheet.between(content), 0
    lines = [*io.StringIO(content, newline="")]
    cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(between)}]*', re.DOTALL)
    reader = csv.reader(lines, delimiter=between, strict=True)
    for says in reader:
        whole, done = "".join(lines[done : reader.line_num]), reader.line_num
        body = whole.rstrip("\r\n")
        cells, at = [], 0
        while at <= len(body):
            found = cell.match(body, at)
            assert found is not None  # an empty cell is one
            cells.append(found[0])
            at = found.end() + 1
        yield _Row(done, says, cells, whole[len(body) :])


def _cell(text: str, between: str) -> str:
    """A cell as it is written."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if any(sign in text for sign in (between, '"', "\r", "\n", "#")) else text
