"""`kata report`: a page for each student and one for the class, from what `kata grade` has written.

Plain HTML with its style inside, so that a page can be sent by itself: no script, no address that a browser
would ask for anything. What answers and students wrote is escaped by the templates, all of it, and cannot
be shown as anything but text.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import Console

from grader.classroom.export import load_results, to_know
from grader.classroom.report import hand_back
from grader.classroom.submissions.class_folder import listed
from grader.classroom.submissions.ways_back import ways_back
from grader.classroom.suite.inventory import catalog_of
from grader.core import atomic_write
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, bar, silent
from grader.core.sanitize import plain
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import NOBODY, Roster
from grader.program import pages
from grader.protocol.statuses import GRADES
from grader.records import log as logs
from grader.records.corrections import NONE, Corrections
from grader.records.log import Change
from grader.records.records import OUTCOMES, StudentRecord

_TEMPLATES = Path(__file__).parent / "templates"
_MADE_BY = '<meta name="generator" content="torchkata">'
_STUDENTS = "students"
_CHANGES = "changes.html"
LONGEST_NAME = 120
MOST_OPEN = 3
"""Failed checks of an exercise that are seen at once; the others are folded away."""


def run(
    results: Path,
    to: Path,
    out: Console,
    err: Console,
    corrections: Corrections = NONE,
    assignment: str | None = None,
    roster: Roster = NOBODY,
    download: Path | None = None,
) -> None:
    """The verb: read what `kata grade` has written to `results`, and say where the report lies.

    Scores, comments and penalties of a gradebook come with `corrections`, students' names with `roster`. With
    the `download` that students' work came in, their pages are packed as its platform takes them back.

    Raises:
        KataError: there are no results, there is no such assignment, the download cannot be read, or the
            report cannot be written.
    """
    left_out: list[str] = []
    records = []
    catalog = catalog_of(results)
    own = catalog.assignment(assignment) if assignment else None
    for record in load_results(results, catalog, left_out.append, corrections=corrections, assignment=own):
        if _sound(record):
            records.append(record)
        else:
            left_out.append(
                f"a record in {paths.shown(results)} is damaged; left out (grade again to renew it)"
            )
    if not records:
        raise KataError(f"{paths.shown(results)} holds no results that can be read; run `kata grade` again")
    for note in to_know(results, records, corrections, catalog):
        err.print(f"note: {note}")
    ways = None if download is None else ways_back(download, catalog, roster)
    if left_out:
        more = f" (and {len(left_out) - 1} more like it)" if len(left_out) > 1 else ""
        err.print(f"note: {left_out[0]}{more}")
    with bar(err, "writing pages") as progress:
        index = write(records, catalog, to, progress, roster, logs.read(results, roster))
    names = file_names(r.student for r in records)
    gone = [] if own else _take_away(to / _STUDENTS, {*names.values()})
    for note in listed("pages of nobody who has results, taken away", gone):
        err.print(f"note: {note}")
    count = f"{len(records)} student{'s' if len(records) != 1 else ''}"
    out.print(f"report: {paths.shown(index)} ({count})")
    if ways is not None:
        pages = {name: to / _STUDENTS / file for name, file in names.items()}
        without = hand_back.pack(records, pages, ways, to)
        for note in listed("not in the zip, as the download has no file of theirs", without):
            err.print(f"note: {note}")
        out.print(f"feedback: {paths.shown(to / hand_back.ZIP)}, {hand_back.MANIFEST}")


def _sound(record: StudentRecord) -> bool:
    """Whether texts are texts and statuses are known: the files may have been edited or cut."""
    checks = [check for exercise in record.exercises.values() for check in exercise.checks]
    statuses = [exercise.status for exercise in record.exercises.values()]
    outcomes = [check.outcome for check in checks]
    flags = [flag for exercise in record.exercises.values() for flag in exercise.flags]
    texts = [text for check in checks for text in (check.id, check.title, check.message)]
    texts += [record.student, *record.exercises, *record.notes, *flags, *statuses, *outcomes]
    return (
        all(isinstance(text, str) for text in texts)
        and all(status in GRADES for status in statuses)
        and all(outcome in OUTCOMES for outcome in outcomes)
    )


def write(
    records: Sequence[StudentRecord],
    catalog: Catalog,
    to: Path,
    progress: Progress = silent,
    roster: Roster = NOBODY,
    log: Sequence[Change] = (),
) -> Path:
    """Write `index.html` and `students/<student>.html` to the folder `to`; returns the former.

    Where the `log` tells of these records, `changes.html` shows it. The class's page is written last, and
    each file is either the old one or the new one.

    Raises:
        KataError: `to` holds somebody else's `index.html`, or cannot be written.
    """
    from grader.classroom.report import changes, overview, student

    index = to / "index.html"
    try:
        expect_ours(index, "--to")
        names = file_names(r.student for r in records)
        for done, record in enumerate(records):
            progress(done, len(records) + 1)
            page = student.page(record, catalog)
            text = render("student.html", page=page, most_open=MOST_OPEN, roster=roster)
            atomic_write.write(to / _STUDENTS / names[record.student], text)
        links = {name: f"{_STUDENTS}/{quote(file)}" for name, file in names.items()}
        if changed := changes.page(log, records, catalog, links):
            atomic_write.write(to / _CHANGES, render(_CHANGES, page=changed, roster=roster))
        page_of_all = overview.page(records, catalog, links)
        text = render("class.html", page=page_of_all, roster=roster, has_changes=changed is not None)
        atomic_write.write(index, text)
        progress(len(records) + 1, len(records) + 1)
    except OSError as error:
        raise KataError(
            f"cannot write the report to {paths.shown(to)}: {error.strerror}; choose another folder with --to"
        ) from None
    return index


def _take_away(folder: Path, names: Collection[str]) -> list[str]:
    """Delete students' pages with other names, as of before an alias was written into the roster."""
    gone = [file for file in sorted(folder.glob("*.html")) if file.name not in names and _is_ours(file)]
    for file in gone:
        try:
            file.unlink()
        except OSError as error:
            raise KataError(f"cannot delete {paths.shown(file)}: {error.strerror}; do so yourself") from None
    return [file.name for file in gone]


def _is_ours(page: Path) -> bool:
    return _MADE_BY in page.read_text("utf-8", errors="replace")[:2000]


def expect_ours(page: Path, option: str) -> None:
    """Raises KataError where the file is there and was not made by us: it would be lost."""
    if page.exists() and not _is_ours(page):
        raise KataError(
            f"{paths.shown(page)} is no page of ours and would be overwritten; "
            f"choose another place with {option}"
        )


def file_names(students: Iterable[str]) -> dict[str, str]:
    """A file name for each student that is safe on any system: `ada.html`.

    What is not a plain letter, digit, dot or dash becomes `_`, and then a digest keeps two apart.
    """
    found: dict[str, str] = {}
    for student in students:
        if student in found:
            raise KataError(
                f"two results are of the student {plain(student)!r}: remove one of them, or grade again"
            )
        safe = re.sub(r"[^A-Za-z0-9.-]", "_", student).strip(".-")[:LONGEST_NAME] or "student"
        taken = {name.lower() for name in found.values()}
        if safe != student or f"{safe}.html".lower() in taken:
            safe = f"{safe}-{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        found[student] = f"{safe}.html"
    return found


def render(template: str, **values: Any) -> str:
    """A page, with everything that is put into it escaped."""
    return pages.render(_TEMPLATES, template, **values)
