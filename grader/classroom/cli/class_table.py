"""What an instructor sees after a run: a line for each student, and what to look at."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from grader.classroom.submissions import roll_call
from grader.classroom.submissions.class_folder import listed
from grader.course import paths
from grader.course.catalog import Catalog
from grader.protocol.statuses import ENDED
from grader.records.log import Change, summary
from grader.records.records import UNVERIFIED, ExerciseRecord, StudentRecord


def show(
    records: list[StudentRecord], results: Path, out: Console, catalog: Catalog, *, of_suite: bool = False
) -> None:
    """The table, what stands out, and where the rest lies."""
    is_narrow = of_suite and len(catalog.exercises) <= _MOST_FILES
    out.print((tests_table if is_narrow else class_table)(records, catalog), crop=False)
    for line in remarks(records):
        tell(line, out)
    out.print(f"results: {paths.shown(results)}/<student>.json")


def tell(line: str, to: Console) -> None:
    """One line, which a terminal shows indented where it goes on: no part of it looks like another's."""
    wrapped = textwrap.fill(line, to.width, subsequent_indent="    ", break_on_hyphens=False)
    to.print(wrapped if to.is_terminal else line)


def tell_changes(changes: Sequence[Change], out: Console) -> None:
    """How many scores went up and down; nothing where none did."""
    if told := summary(changes):
        tell(f"scores: {told}", out)


def class_table(records: list[StudentRecord], catalog: Catalog) -> Table:
    """One line per student: total, and how many exercises ended how; of steps, how many are done."""
    steps = {e.slug for e in catalog.exercises if e.is_step}
    own = [{slug: e.status for slug, e in r.exercises.items() if slug not in steps} for r in records]
    statuses = sorted({status for found in own for status in found.values()})
    done = [_steps_done([e for slug, e in r.exercises.items() if slug in steps]) for r in records]
    rows = []
    for found, steps_done in zip(own, done, strict=True):
        counts = [sum(one == status for one in found.values()) for status in statuses]
        rows.append([str(count or "") for count in counts] + ([steps_done] if any(done) else []))
    return _table([*statuses, *(["steps"] if any(done) else [])], rows, records)


def tests_table(records: list[StudentRecord], catalog: Catalog) -> Table:
    """One line per student: total, and of each file of a suite how many of its tests pass."""
    files = [exercise.slug for exercise in catalog.exercises]
    found = [[record.exercises.get(slug) for slug in files] for record in records]
    return _table(files, [[_tests_passed(one) if one else "" for one in row] for row in found], records)


def _tests_passed(record: ExerciseRecord) -> str:
    judged = [check.outcome == "passed" for check in record.checks if check.outcome != "not_graded"]
    if not judged or record.status == "tampered":
        return record.status
    return f"{sum(judged)} of {len(judged)}"


def _table(columns: Sequence[str], cells: list[list[str]], records: list[StudentRecord]) -> Table:
    """A row for each student, with the student's cells under these columns, and the mean of all."""
    names = ("student", "score", "points", *columns)
    rows = [
        (record.student, f"{record.score:.4g}", f"{record.points:g}", *own)
        for record, own in zip(records, cells, strict=True)
    ]
    rows += [("mean", *mean(records), *[""] * len(columns))] if records else []
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name, *column in zip(names, *rows, strict=True):
        widest = max(map(len, [name, *column]))  # nothing is cut off where the table is wider than its page
        justify: Literal["left", "right"] = "left" if name == "student" else "right"
        table.add_column(name, justify=justify, no_wrap=True, min_width=widest)
    for row in rows:
        table.add_row(*row)
    return table


def _steps_done(steps: Iterable[ExerciseRecord]) -> str:
    """ "3 of 5"; nothing of a student who left them out."""
    judged = [step for step in steps if not step.needs_manual_grade]
    done = sum(step.status == "passed" for step in judged)
    return f"{done} of {len(judged)}" if any(step.status != "todo" for step in judged) else ""


def mean(records: list[StudentRecord]) -> tuple[str, str]:
    """The mean score and the points, summed over exercises: who was not judged on one is not in its mean."""
    judged: dict[str, list[ExerciseRecord]] = {}
    for record in records:
        for slug, exercise in record.exercises.items():
            if not exercise.needs_manual_grade:
                judged.setdefault(slug, []).append(exercise)
    mean = sum(sum(e.score for e in found) / len(found) for found in judged.values())
    return f"{mean:.4g}", f"{sum(found[0].points for found in judged.values()):g}"


_MOST_FILES = 10
"""Files of tests that have a column each."""
_MOST_NAMED = 5


def remarks(records: list[StudentRecord]) -> list[str]:
    """What an instructor should look at, a line each; what the grader itself failed at comes last."""
    lines = [*_notes(records), *_unread(records)]
    faults: dict[str, list[str]] = {}
    for record in records:
        for slug, exercise in record.exercises.items():
            reason = "; ".join(exercise.flags)
            if exercise.status == "grader_fault":
                faults.setdefault(reason, []).append(slug)
            elif exercise.status in ENDED and (not reason or reason not in " ".join(record.notes)):
                told = f"{record.student}: {slug} {exercise.status}"
                lines.append(f"{told}: {reason}" if reason else told)
    if any(UNVERIFIED in record.notes for record in records):
        lines.append(f"scores are {UNVERIFIED}: by a suite of its own, tests run where the code does")
    for reason, slugs in faults.items():
        where = f"{_named([*dict.fromkeys(slugs)])}, {_answers(len(slugs))}"
        lines.append(f"not graded by a fault of the grader: {where}: {reason}")
    if faults:
        count = _answers(sum(map(len, faults.values())))
        lines.append(
            f"{count} not graded count neither as 0 nor in a mean; run again, or mend what a line names"
        )
    return lines


def _notes(records: list[StudentRecord]) -> Iterator[str]:
    """What was odd about hand-ins. What many share who handed in something else now is one line."""
    kept = [record.student for record in records if any(n.startswith(roll_call.KEPT) for n in record.notes)]
    of_many = listed(f"{roll_call.KEPT}, exercises of", kept) if len(kept) > _MOST_NAMED else ()
    for record in records:
        for note in record.notes:
            is_told = note in (roll_call.ABSENT, UNVERIFIED) or (of_many and note.startswith(roll_call.KEPT))
            if not is_told:
                yield f"{record.student}: {note}"
    yield from of_many


def _unread(records: list[StudentRecord]) -> Iterator[str]:
    """Where something was handed in that a person has to look at, and why."""
    for record in records:
        slugs: dict[str, list[str]] = {}
        for slug, exercise in record.exercises.items():
            if exercise.status == "not_graded" and exercise.needs_manual_grade and exercise.flags:
                slugs.setdefault("; ".join(exercise.flags), []).append(slug)
        for reason, held in slugs.items():
            yield f"{record.student}: {_named(held)} needs manual grade: {reason}"


def _named(slugs: Sequence[str]) -> str:
    more = f" and {len(slugs) - _MOST_NAMED} more" if len(slugs) > _MOST_NAMED else ""
    return f"{', '.join(slugs[:_MOST_NAMED])}{more}"


def _answers(count: int) -> str:
    return f"{count} answer{'s' if count != 1 else ''}"
