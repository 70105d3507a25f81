"""How much there is to do, and how much of it nobody need come back to: one count for every face."""

from collections.abc import Iterable, Mapping

from grader.course.exercise import Exercise
from grader.protocol.statuses import SETTLED, State


def counting(exercises: Iterable[Exercise]) -> tuple[Exercise, ...]:
    """Those of these that are counted: all but optional steps, unless they are alone."""
    held = tuple(exercises)
    return tuple(e for e in held if not e.optional) or held


def counted(exercises: Iterable[Exercise], seen: Mapping[str, State]) -> str:
    """How many of these are settled, and how many there are: ``5/36``."""
    states = [seen.get(e.slug, "todo") for e in counting(exercises)]
    return f"{sum(state in SETTLED for state in states)}/{len(states)}"


def by_kind(exercises: Iterable[Exercise], seen: Mapping[str, State]) -> dict[str, str]:
    """The counts of these: of the steps and of the exercises among them, of which some count."""
    held = counting(exercises)
    parts = {"steps": [e for e in held if e.is_step], "exercises": [e for e in held if not e.is_step]}
    return {kind: counted(those, seen) for kind, those in parts.items() if those}
