"""A gradebook's rows and a course's folders under a name that the roster knows now: they are the student's.

Nothing that a person entered or handed in is lost: what both names have stays as it is, and a line says so.
"""

import filecmp
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.classroom.nbgrader import formgrader
from grader.classroom.nbgrader.connection import opened, place
from grader.classroom.submissions.platforms import SUBMITTED
from grader.core.errors import KataError
from grader.course import paths
from grader.course.roster import Roster

_FOLDERS = (SUBMITTED, "autograded", "feedback")
_BY_HAND = ("manual_score", "extra_credit", "manual_comment")
"""What a person enters, of a grade or a comment."""


def settle(url: str, roster: Roster) -> list[str]:
    """Move them; a line for each that moved, or could not.

    Raises:
        KataError: the gradebook or the course's folders cannot be written.
    """
    if not roster.students:
        return []
    where = place(url)
    with opened(where) as gradebook:
        lines = [*_rows(gradebook, roster)]
    try:
        return lines + [line for kind in _FOLDERS for line in _folders(where.folder / kind, roster)]
    except OSError as error:
        raise KataError(
            f"cannot move {paths.shown(Path(str(error.filename)))}: {error.strerror}; mend that and run again"
        ) from None


def _rows(gradebook: Any, roster: Roster) -> Iterator[str]:
    from nbgrader.api import Student

    db = gradebook.db
    for former in db.query(Student).all():
        known = roster.find(former.id)
        if known is None or known.id == former.id:
            continue
        student = db.get(Student, known.id)
        if student is None:
            student = Student(id=known.id, first_name=former.first_name, last_name=former.last_name)
            student.email, student.lms_user_id = former.email, former.lms_user_id
            db.add(student)
        left = [work.assignment.name for work in [*former.submissions] if not _moved(db, work, student)]
        both = f"{former.id} and {known.id} both have something by hand in {', '.join(left)}"
        line = f"{both}: settle it in formgrader, and run again" if left else f"{former.id} is {known.id} now"
        db.flush()
        if not left:
            db.refresh(former)
            db.delete(former)
        db.commit()
        yield f"gradebook: {line}"


def _moved(db: Any, former: Any, student: Any) -> bool:
    """Whether a submitted assignment is the student's now: not where a person differs on the two."""
    own = next((one for one in student.submissions if one.assignment_id == former.assignment_id), None)
    if own is None:
        former.student = student
        return True
    mine = _cells(own)
    pairs = [(cell, mine[key]) for key, cell in _cells(former).items() if key in mine]
    if any(_is_contended(*pair) for pair in pairs):
        return False
    for theirs, cell in pairs:
        _fill(theirs, cell)
    for name in ("timestamp", "extension"):
        setattr(own, name, getattr(own, name) or getattr(former, name))
    notebooks = {one.notebook_id: one for one in own.notebooks}
    for notebook in [*former.notebooks]:
        if notebook.notebook_id not in notebooks:
            notebook.assignment = own
            continue
        for cell in [*notebook.grades, *notebook.comments]:
            if _key(cell) in mine:
                db.delete(cell)
            else:
                cell.notebook = notebooks[notebook.notebook_id]
        db.flush()
        db.refresh(notebook)
        db.delete(notebook)
    db.flush()
    db.refresh(former)
    db.delete(former)
    return True


def _cells(submission: Any) -> dict[tuple[str, str, str], Any]:
    """Its grades and comments."""
    return {_key(cell): cell for one in submission.notebooks for cell in [*one.grades, *one.comments]}


def _key(cell: Any) -> tuple[str, str, str]:
    return type(cell).__name__, cell.notebook.notebook_id, cell.cell_id


def _is_contended(theirs: Any, mine: Any) -> bool:
    """Whether a person entered something for both, and not the same."""
    pairs = ((_entered(theirs, name), _entered(mine, name)) for name in _BY_HAND)
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def _entered(cell: Any, name: str) -> Any:
    value = getattr(cell, name, None)
    return value if value or name == "manual_score" else None


def _fill(theirs: Any, mine: Any) -> None:
    """Take over what a person entered, with the score that it was entered over."""
    if hasattr(mine, "manual_comment"):
        mine.manual_comment = mine.manual_comment or theirs.manual_comment
        return
    if mine.manual_score is None and theirs.manual_score is not None:
        mine.manual_score, mine.auto_score = theirs.manual_score, theirs.auto_score
        mine.needs_manual_grade = theirs.needs_manual_grade
    if not mine.extra_credit:
        mine.extra_credit = theirs.extra_credit


def _folders(home: Path, roster: Roster) -> Iterator[str]:
    for former in sorted(home.iterdir()) if home.is_dir() else ():
        student = roster.find(former.name)
        if student is None or student.id == former.name or former.is_symlink() or not former.is_dir():
            continue
        own = home / student.id
        if own.exists() and own.samefile(former):  # as it is where case does not count
            continue
        for folder in sorted(former.iterdir()):
            _move(folder, own / folder.name)
        left = [one.name for one in former.iterdir()]
        shown, now = paths.shown(former), paths.shown(own)
        if left:
            yield f"{shown}: {', '.join(left)} is in {now} otherwise: take one away, and run again"
        else:
            former.rmdir()
            yield f"{shown} is {now} now"


def _move(folder: Path, to: Path) -> None:
    """Move an assignment's folder where there is none yet. What is made anew is no reason to keep two."""
    is_made = to.parent.parent.name != SUBMITTED or formgrader.wrote(folder)
    if to.exists() and formgrader.wrote(to) and not is_made:
        shutil.rmtree(to)
    if not to.exists():
        to.parent.mkdir(exist_ok=True)
        folder.rename(to)
    elif folder.is_dir() and not folder.is_symlink() and (is_made or _is_same(folder, to)):
        shutil.rmtree(folder)


def _is_same(one: Path, other: Path) -> bool:
    """Whether two folders hold the same."""
    names = {path.relative_to(one) for path in one.rglob("*")}
    if names != {path.relative_to(other) for path in other.rglob("*")}:
        return False
    files = [name for name in names if not (one / name).is_dir()]
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in files)
