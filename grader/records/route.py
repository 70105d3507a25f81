"""Which way a learner goes through the course: `kata path`, and the steps that come before an exercise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise

Name = Literal["first", "core", "section"]
WAYS: dict[Name, str] = {
    "first": "section by section, steps and easy exercises; then the others",
    "core": "the exercises, with the steps before each at hand; further ones last",
    "section": "the steps and easy exercises of one section, then its others",
}


@dataclass(frozen=True)
class Route:
    """A way through the course. What is not on it can be opened, and is judged as anything else."""

    name: Name
    section: str = ""
    only: tuple[str, ...] = ()
    """What is offered to test out of the section."""

    def holds(self, exercise: Exercise) -> bool:
        """Whether it is on the way. Optional steps never are."""
        if self.only:
            return exercise.slug in self.only
        if exercise.optional or (self.name == "core" and exercise.is_step):
            return False
        return self.name != "section" or exercise.section == self.section

    def passes_over(self, exercise: Exercise) -> bool:
        """Whether it is an optional step beside this way."""
        return exercise.optional and self.name != "core" and self.section in ("", exercise.section)

    def order(self, catalog: Catalog) -> tuple[Exercise, ...]:
        """The whole course in the order of this way, and with it what is not on the way."""
        if self.name == "core":
            return _further_last(catalog.exercises)
        later = (e for e in catalog.exercises if not (e.is_step or e.is_easy))  # when the book is read
        return (*like_a_book(catalog), *_further_last(later))

    def stretch(self, catalog: Catalog) -> tuple[Exercise, ...]:
        """What is on the way, in its order."""
        return tuple(e for e in self.order(catalog) if self.holds(e))

    def __str__(self) -> str:
        if self.only:
            return f"out of the steps of {self.section}, by {' and '.join(self.only)}"
        return f"{self.name}: {WAYS[self.name].replace('one section', self.section or 'one section')}"


def like_a_book(catalog: Catalog) -> tuple[Exercise, ...]:
    """Section by section the steps, and each easy exercise behind the last one of these that it needs.

    One that needs no step of its section comes after all of them.
    """
    rows, read = {e.slug: e for e in catalog.exercises}, list[Exercise]()
    for section in catalog.sections:
        steps = {e.slug: place for place, e in enumerate(section.exercises) if e.is_step}
        place = dict(steps)
        for e in filter(lambda e: e.is_easy, section.exercises):
            place[e.slug] = max((steps[s] for s in _needed(rows, [e]) if s in steps), default=len(steps))
        held = [e for e in section.exercises if e.slug in place]
        read += sorted(held, key=lambda e: (place[e.slug], not e.is_step))
    return tuple(read)


def _further_last(exercises: Iterable[Exercise]) -> tuple[Exercise, ...]:
    """These in their order, and behind those of all sections what goes further."""
    return tuple(sorted(exercises, key=lambda e: e.path == "further"))


def named(catalog: Catalog, name: str, section: str, here: Exercise) -> Route:
    """The way that a person means: first, core, section with or without a name, or a section's name alone.

    Args:
        here: where the person is; `section` alone is the section of this one.
    """
    if name in ("first", "core"):
        if section:
            raise KataError(f"the path {name} goes through all sections; leave {section!r} out")
        return Route("first" if name == "first" else "core")
    asked = (section or here.section) if name == "section" else name
    found = catalog.section_called(asked)
    if found is None or (name != "section" and section):
        sections = ", ".join(s.name for s in catalog.sections)
        raise KataError(f"{asked!r} is no path: choose first, core, or section and one of {sections}")
    return Route("section", found.name)


def steps_before(catalog: Catalog, *exercises: Exercise) -> tuple[Exercise, ...]:
    """The steps that these need, also by way of others that they need, in the catalog's order."""
    found = _needed({e.slug: e for e in catalog.exercises}, exercises)
    return tuple(e for e in catalog.exercises if e.is_step and e.slug in found)


def _needed(rows: Mapping[str, Exercise], exercises: Iterable[Exercise]) -> set[str]:
    """The slugs of all that these need, also by way of others."""
    found: set[str] = set()
    left = [slug for e in exercises for slug in e.needs]
    while left:
        slug = left.pop()
        if slug in rows and slug not in found:  # a release may lack some
            found.add(slug)
            left += rows[slug].needs
    return found
