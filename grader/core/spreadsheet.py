"""A table that a spreadsheet or a platform exported: CSV with a header, cells kept apart by , ; or tabs."""

import csv
import difflib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import KataError

_BETWEEN = ",;\t"
MOST_BYTES = 16 << 20
_MARKED = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
"""What spreadsheets put before a text, and the encoding that it tells."""


@dataclass(frozen=True)
class Text:
    """What a table holds, and how that is written: the mark before it, and its encoding."""

    content: str
    mark: bytes = b""
    encoding: str = "utf-8"

    def encoded(self, content: str) -> bytes:
        """Another content, written in the same way."""
        return self.mark + content.encode(self.encoding)


def rows(file: Path, columns: Mapping[str, Sequence[str]], needed: Sequence[str]) -> list[dict[str, str]]:
    """The rows that are not blank, each with the cells of `columns`; what is not there is empty.

    `columns` has the names under which each may stand in the header, of which the first is ours. Other
    columns are left out. A row's number in the file is `line`.

    Raises:
        KataError: the file cannot be read, lacks a needed column or has one that is misspelt, or a row is too
            long.
    """
    first, body = table(file)
    header = [cell.strip().casefold() for cell in first]
    place = {
        ours: next((header.index(name) for name in names if name in header), None)
        for ours, names in columns.items()
    }
    for name in {header[at] for at in place.values() if at is not None}:
        if header.count(name) > 1:
            raise KataError(f"{file}: its first row names {name!r} twice; take one out")
    others = {*header} - {name for names in columns.values() for name in names}
    for ours in columns:
        like = [name for name in others if not name.startswith(f"{ours}_")]  # assignment_id is no assignment
        close = difflib.get_close_matches(ours, like, cutoff=0.75)
        if place[ours] is None and (close or ours in needed):
            seen = f"; is {close[0]!r} meant?" if close else f": it begins with {','.join(first)[:80]!r}"
            raise KataError(f"{file}: its first row names no column {ours!r}{seen}")
    for line, row in body:
        if any(cell.strip() for cell in row[len(first) :]):
            raise KataError(
                f"{file}, line {line}: has more cells than the first row; quote what has a comma in it"
            )
    return [
        {"line": str(line)}
        | {ours: row[at].strip() if at is not None and at < len(row) else "" for ours, at in place.items()}
        for line, row in body
    ]


def table(file: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The first row, and the others that are not blank, each with the number of its line.

    Lines that begin with # are left out, as is one `sep=;` of Excel's at the top.

    Raises:
        KataError: the file cannot be read.
    """
    try:
        content = text(file).content
        reader = csv.reader(io.StringIO(content, newline=""), delimiter=between(content), strict=True)
        found = [(reader.line_num, row) for row in reader if is_row(row)]
    except csv.Error as broken:
        raise KataError(f"{file} cannot be read as CSV: {broken}; save it again as *CSV UTF-8*") from None
    return (found[0][1] if found else []), found[1:]


def text(file: Path) -> Text:
    """What a table holds.

    Raises:
        KataError: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as broken:
        raise KataError(f"{file} cannot be read ({broken.strerror}); name another file") from None
    if len(content) > MOST_BYTES:
        raise KataError(f"{file} has more than {MOST_BYTES >> 20} MiB; name a table of one course")
    mark, encoding = next((one for one in _MARKED if content.startswith(one[0])), (b"", "utf-8"))
    try:
        return Text(content[len(mark) :].decode(encoding), mark, encoding)
    except UnicodeDecodeError:
        raise KataError(f"{file} is no UTF-8; save it again as *CSV UTF-8*") from None


def between(content: str) -> str:
    """What keeps a table's cells apart."""
    first = next((line for line in content.splitlines() if line.strip() and not line.startswith("#")), "")
    if told := re.fullmatch(r"sep=(.)", first, re.IGNORECASE):
        return told[1]
    return max(_BETWEEN, key=first.count)


def is_row(row: Sequence[str]) -> bool:
    """Whether a row of the reader's is one of the table, and neither blank nor a remark."""
    if not row or re.match(r"#+ *[^# ]|sep=", row[0], re.IGNORECASE):
        return False
    return any(cell.strip() for cell in row)
