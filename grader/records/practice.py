"""When exercises were solved, and which is worth doing again.

The days between two times double with each time that went well, and halve with each hint that the last one
took (spaced repetition, as in Leitner's boxes). Days are local dates, kept with the rest of the progress.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from grader.core.errors import KataError
from grader.course.exercise import Exercise
from grader.protocol.statuses import SOLVED, State
from grader.records import progress

FIRST = 4
"""Days from the first time to the second."""

WEEK = 7


@dataclass(frozen=True)
class Practice:
    """The days on which an exercise was solved, in order, and how many hints the last time took."""

    days: tuple[date, ...]
    hints: int = 0

    @property
    def due(self) -> date:
        """From when on it is worth doing again."""
        spacing = FIRST * 2 ** (len(self.days) - 1) // 2**self.hints
        return self.days[-1] + timedelta(days=max(spacing, 1))

    def overdue(self, today: date) -> float:
        """How long ago it was, in units of its spacing: from 1 on it is due."""
        return (today - self.days[-1]).days / (self.due - self.days[-1]).days


@dataclass(frozen=True)
class Again:
    """What was put back to its start to be done again: where the last answer is kept, and since when."""

    slug: str
    then: str
    since: date


def history() -> dict[str, Practice]:
    """What was solved, by slug; what cannot be read is left out."""
    kept = progress.part("practice")
    return {slug: practice for slug, row in kept.items() if (practice := _practice(row))}


def _practice(row: object) -> Practice | None:
    if not isinstance(row, dict):
        return None
    try:
        days = tuple(date.fromisoformat(day) for day in row["days"])
        return Practice(days, int(row.get("hints", 0))) if days else None
    except (KeyError, TypeError, ValueError):
        return None


def note(solved: Iterable[str], today: date | None = None) -> None:
    """Note that these were solved now, for the first time or again; once a day."""
    new = tuple(solved)
    if not new:  # as after most saves: nothing is read or written
        return
    day = today or date.today()
    rows, hints = progress.part("practice"), progress.part("hints")
    for slug in new:
        known = _practice(rows.get(slug))
        days = known.days if known else ()
        if day not in days:
            given = hints.get(slug, 0)
            rows[slug] = {
                "days": [d.isoformat() for d in (*days, day)],
                "hints": given if isinstance(given, int) else 0,
            }
    progress.keep("practice", rows)


def choose(exercises: Iterable[Exercise], seen: Mapping[str, State], today: date) -> Exercise:
    """What has been due the longest, for its spacing.

    Raises:
        KataError: nothing is due, or nothing was solved.
    """
    known = history()
    solved = [e for e in exercises if seen.get(e.slug) in SOLVED and e.slug in known]
    if not solved:
        raise KataError("nothing was solved yet that could be done again; `kata watch` begins")
    first = max(solved, key=lambda e: known[e.slug].overdue(today))
    if known[first.slug].overdue(today) < 1:
        soonest = min(solved, key=lambda e: known[e.slug].due)
        raise KataError(
            f"nothing was solved long enough ago; {soonest.slug} comes next, on {known[soonest.slug].due}. "
            f"`kata again {soonest.slug}` takes it now"
        )
    return first


def begin(slug: str, then: str, today: date) -> None:
    """Note that an exercise was put back, and where the answer to it is kept."""
    progress.keep("again", {"slug": slug, "then": then, "since": today.isoformat()})


def begun() -> Again | None:
    """What was put back and not compared yet."""
    row = progress.part("again")
    try:
        return Again(str(row["slug"]), str(row["then"]), date.fromisoformat(row["since"]))
    except (KeyError, TypeError, ValueError):
        return None


def end() -> None:
    """Then and now were compared."""
    progress.keep("again", {})


def counts(today: date) -> str:
    """How much was solved: "today 3, 1 of it again; this week 12"; empty where nothing was this week."""
    firsts: list[date] = []
    times: list[date] = []
    for practice in history().values():
        firsts.append(practice.days[0])
        times += practice.days
    now, again = times.count(today), times.count(today) - firsts.count(today)
    week = sum(today - timedelta(days=WEEK) < day <= today for day in times)
    if not week:
        return ""
    return f"solved today {now}{f', {again} of it again' if again else ''}; in the last {WEEK} days {week}"
