"""Testing out of a section: two exercises whose jobs take what its steps teach."""

from itertools import combinations

from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise
from grader.records import progress, route

OFFERED = 2


def offered(catalog: Catalog, section: Section) -> tuple[Exercise, ...]:
    """The exercises of a section that need the most of its steps together; the easier ones where several do.

    Raises:
        KataError: the section has no steps, or too few exercises.
    """
    steps = {e for e in section.exercises if e.is_step and not e.optional}
    exercises = [e for e in section.exercises if e.path == "core"]
    if not steps or len(exercises) < OFFERED:
        raise KataError(f"{section.name} has no steps to test out of")

    def worth(pair: tuple[Exercise, ...]) -> tuple[int, int]:
        covered = steps.intersection(route.steps_before(catalog, *pair))
        return len(covered), -sum(e.minutes + 20 * e.difficulty for e in pair)

    return max(combinations(exercises, OFFERED), key=worth)


def offer(section: Section, exercises: tuple[Exercise, ...]) -> None:
    """Remember what was offered: once these are solved, the section's steps are known."""
    kept = progress.part("placement")
    progress.keep("placement", {**kept, section.name: [e.slug for e in exercises]})
