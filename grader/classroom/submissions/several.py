"""What one student handed in under several names: the newest counts, else a person says which."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from grader.classroom.submissions.owners import Belonging, safe_name
from grader.classroom.submissions.submission import Submission
from grader.course.catalog import Catalog

_COPY = re.compile(r"(?P<name>.+?) ?\((?P<number>\d{1,4})\)", re.DOTALL)


Work = TypeVar("Work")


@dataclass(frozen=True)
class HandIn(Generic[Work]):
    """What came under one name.

    Args:
        name: what it is called there.
        upload: Canvas's number of its last file; 0 where there is none.
        work: what was found in it.
    """

    name: str
    upload: int
    work: Work

    @property
    def _copied(self) -> tuple[str, int]:
        """The name without the number that a browser gives to what is there already, and that number."""
        found = _COPY.fullmatch(self.name)
        return (found["name"], int(found["number"])) if found else (self.name, 0)


def by_name(parts: Sequence[Belonging], read: Callable[[Sequence[Belonging]], Work]) -> list[HandIn[Work]]:
    """What is read of a student's parts, name by name."""
    named: dict[str, list[Belonging]] = {}
    for part in parts:
        named.setdefault(safe_name(part.origin.student), []).append(part)
    return [
        HandIn(name, max(part.origin.upload for part in held), read(held)) for name, held in named.items()
    ]


def names_of(found: Sequence[HandIn[Work]]) -> str:
    """The note that names them all."""
    return f"handed in under {len(found)} names: {' and '.join(one.name for one in found)}"


def differ(found: Sequence[HandIn[Work]]) -> str:
    """Why these need a person."""
    return f"{' and '.join(one.name for one in found)} differ: which counts?"


def joined(student: str, found: Sequence[HandIn[Submission]], catalog: Catalog) -> Submission:
    """All of it as one, with a note that names them. What contends needs a person."""
    answers: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    counted: dict[str, list[str]] = {}
    doubtful = frozenset[str]()
    for exercise in catalog.exercises:
        slug = exercise.slug
        having = [one for one in found if slug in one.work.answers]
        begun = [one for one in having if one.work.holds(exercise)]
        is_one = len({one.work.answers[slug] for one in begun}) < 2
        newest = (
            None if is_one else newest_of(begun, [one.work.times.get(exercise.assignment) for one in begun])
        )
        if not is_one and newest is None:
            problems[slug] = differ(begun)
        elif begun:
            answers[slug] = (newest or begun[0]).work.answers[slug]
            if newest:
                counted.setdefault(newest.name, []).append(slug)
        elif told := [one.work for one in found if slug in one.work.problems]:
            certain = [work for work in told if slug not in work.doubtful]
            problems[slug] = "; ".join(work.problems[slug] for work in certain or told)
            doubtful |= set() if certain else {slug}
        elif having:  # the start as it was
            answers[slug] = having[0].work.answers[slug]
    notes = [names_of(found)]
    notes += [f"of these, {name} is newer and counts: {', '.join(slugs)}" for name, slugs in counted.items()]
    notes += [f"{one.name}: {note}" for one in found for note in one.work.notes]
    late = [one.work.late for one in found if one.work.late is not None]
    return Submission(
        student,
        answers,
        problems,
        tuple(notes),
        _latest(found),
        any(late) if late else None,
        frozenset(slug for one in found for slug in one.work.kept) - answers.keys() - problems.keys(),
        doubtful & problems.keys(),
    )


def newest_of(found: Sequence[HandIn[Work]], times: Sequence[str | None] = ()) -> HandIn[Work] | None:
    """That of which Canvas's number, a time or a browser's number says so; None where nothing does."""
    copies = [one._copied for one in found]
    is_copied = len({base for base, _ in copies}) == 1
    ranks: tuple[Sequence[Any], ...] = (
        [one.upload for one in found],
        times,
        [number + 1 for _, number in copies] if is_copied else (),
    )
    for rank in ranks:
        if len({*rank} - {0, None}) == len(found):
            return found[max(range(len(found)), key=lambda n, rank=rank: rank[n])]  # type: ignore[misc]
    return None


def _latest(found: Sequence[HandIn[Submission]]) -> dict[str, str]:
    times: dict[str, str] = {}
    for one in found:
        for name, time in one.work.times.items():
            times[name] = max(time, times.get(name, ""))
    return times
