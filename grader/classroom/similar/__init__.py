"""`kata similar`: which students' answers are alike where those of others are not.

What comes out is a page to look at, never a verdict: pairs of students, the most telling first, with both
codes side by side and with how alike any two answers to the same exercise are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from grader.classroom.report import expect_ours, render
from grader.classroom.similar.compare import Prints, Reader, compare
from grader.classroom.similar.page import Compared, page
from grader.classroom.submissions.class_folder import Submission, collect
from grader.core import atomic_write
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, bar, silent
from grader.course import paths, roster, specimens
from grader.course.catalog import load
from grader.course.exercise import Exercise

if TYPE_CHECKING:
    from grader.classroom.similar.assignment import SuiteAssignment

Everybodys = Callable[[Exercise, Callable[[str], None]], list[str]]
"""What anybody may have written to an exercise; a line tells what of it cannot be read."""


def run(
    submissions: Path,
    to: Path,
    threshold: int,
    most: int,
    only: list[str] | None,
    out: Console,
    err: Console,
    by_suite: "SuiteAssignment | None" = None,
) -> None:
    """The verb: compare what a class handed in, write a page, and say how many pairs are on it.

    Where there is too little to compare, that is said, and no page is written.

    Raises:
        KataError: there are no submissions, or the page cannot be written.
    """
    enrolled = roster.load()
    everybodys: Everybodys
    if by_suite is None:
        catalog = load()
        work = collect(submissions, catalog, roster=enrolled)
        # A step is too short to be anybody's own.
        exercises, everybodys = [e for e in catalog.select(only) if not e.is_step], _everybodys
    else:
        work = by_suite.collect(submissions, enrolled)
        exercises, everybodys = [by_suite.exercise], by_suite.everybodys
    named = [replace(s, student=enrolled.label(s.student)) for s in work.submissions]
    _expect_writable(to)
    notes: list[str] = []
    with bar(err, "comparing answers") as progress:
        compared = likenesses(named, exercises, progress, everybodys, notes.append)
    for note in notes:
        err.print(f"note: {note}")
    if not compared:
        few = "holds no two answers with enough code of their own to compare"
        out.print(f"similar: {paths.shown(submissions)} {few}; no page was written")
        return
    shown = page([s.student for s in named], compared, threshold / 100, most)
    try:
        atomic_write.write(to, render("similar.html", page=shown))
    except OSError as error:
        raise KataError(f"cannot write {to}: {error.strerror}; choose another file with --out") from None
    many = "pair" if len(shown.pairs) == 1 else "pairs"
    out.print(f"similar: {paths.shown(to)} ({len(shown.pairs)} {many} to look at)")


def _expect_writable(to: Path) -> None:
    """Before the work is done: comparing a large class takes minutes."""
    if to.is_dir():
        raise KataError(f"{paths.shown(to)} is a folder; name a file with --out, such as similar.html")
    expect_ours(to, "--out")


def likenesses(
    submissions: Sequence[Submission],
    exercises: Iterable[Exercise],
    progress: Progress = silent,
    everybodys: Everybodys | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Compared]:
    """Compare the answers of each exercise; those that nobody or one student wrote are left out.

    What `everybodys` returns of it anybody may have written; it tells what is wrong with that.
    """
    reader = Reader()
    handed_in = [(e, _answers(e, submissions)) for e in exercises]
    total, done = sum(len(answers) for _, answers in handed_in), 0
    found = []
    for exercise, answers in handed_in:
        if len(answers) < 2:
            done += len(answers)
            continue
        boilerplate = reader.boilerplate((everybodys or _everybodys)(exercise, tell))
        known: dict[str, Prints] = {}
        prints = {}
        for student, code in answers.items():
            if code not in known:
                known[code] = reader.prints(code, boilerplate)
            prints[student] = known[code]
            done += 1
            progress(done, total)
        likeness = compare(prints)
        if len(likeness.students) > 1:
            found.append(Compared(exercise, likeness, prints, reader))
    return found


def _answers(exercise: Exercise, submissions: Iterable[Submission]) -> dict[str, str]:
    """Who handed in what; stubs as they were given out are nobody's work."""
    return {
        submission.student: exercise.text(answer).replace("\r\n", "\n")
        for submission in submissions
        if (answer := submission.answers.get(exercise.slug)) is not None and not exercise.is_start(answer)
    }


def _everybodys(exercise: Exercise, tell: Callable[[str], None]) -> list[str]:
    """What anybody may have written: the start, the reference, and how people are known to answer."""
    places: tuple[Literal["exercises", "solutions"], ...] = ("exercises", "solutions")
    answers = [exercise.content(tree) for tree in places if exercise.file(tree).is_file()]
    kept = exercise.file("specimens")
    if kept.is_file() and exercise.file("solutions").is_file():
        try:
            answers += [one.content(exercise) for one in specimens.read(kept)]
        except KataError as broken:  # of a course's own
            tell(f"{exercise.slug}: {paths.shown(kept)} counts for nothing: {broken}")
    return [exercise.text(answer) for answer in answers]
