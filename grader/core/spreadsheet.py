"""A table that a spreadsheet or a platform exported: CSV with a header, cells kept apart by , ; or tabs."""

import csv
import difflib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.core.errors import KataError

_BETWEEN = ",;\t"


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

    Raises:
        KataError: the file cannot be read.
    """
    try:
        content = file.read_text("utf-8-sig")
        between = max(_BETWEEN, key=content.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(content, newline=""), delimiter=between, strict=True)
        first = next(reader, [])
        return first, [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except UnicodeDecodeError:
        raise KataError(f"{file} is no UTF-8; save it again as *CSV UTF-8*") from None
    except (OSError, csv.Error) as broken:
        raise KataError(f"{file} cannot be read as CSV: {broken}; save it again as *CSV UTF-8*") from None
