"""The students' pages as a zip that Canvas or Moodle takes, and a table of what goes to whom."""

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.classroom.export.tables import number, text
from grader.core import atomic_write
from grader.core.errors import KataError
from grader.course import paths
from grader.records.records import StudentRecord

ZIP = "feedback.zip"
MANIFEST = "manifest.csv"


def pack(
    records: Sequence[StudentRecord], pages: Mapping[str, Path], ways: Mapping[str, Sequence[str]], to: Path
) -> list[str]:
    """Write `feedback.zip` and `manifest.csv` to the folder `to`; returns the students whom no way leads to.

    Raises:
        KataError: they cannot be written.
    """
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["student", "score", "points", "file"])
    left = to / f".{ZIP}"
    try:
        with zipfile.ZipFile(left, "w") as packed:
            for record in records:
                own = ways.get(record.student, ())
                told = text("; ".join(own))
                rows.writerow([text(record.student), number(record.score), number(record.points), told])
                for way in own:
                    page = pages[record.student].read_bytes()
                    packed.writestr(zipfile.ZipInfo(way), page, zipfile.ZIP_DEFLATED)
        left.replace(to / ZIP)
        atomic_write.write(to / MANIFEST, table.getvalue())
    except OSError as error:
        raise KataError(
            f"cannot write {paths.shown(to / ZIP)}: {error.strerror}; choose another folder with --to"
        ) from None
    return [record.student for record in records if record.student not in ways]
