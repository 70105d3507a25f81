"""The catalog as a course sets it: its assignments, what their exercises are worth, and when they are due."""

from collections.abc import Sequence
from dataclasses import replace

from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section
from grader.course.course_file import Assignment, CourseFile, near
from grader.course.exercise import Exercise


def arranged(catalog: Catalog, course: CourseFile) -> Catalog:
    """The catalog with the assignments of the course, in their order, and with their points.

    What is in none of them stays an assignment by its section, as it comes.

    Raises:
        KataError: an assignment names what is not there, or what another one has.
    """
    set_as: dict[str, tuple[Exercise, Assignment]] = {}
    for one in course.assignments:
        if one.name in {held.name for held in (*catalog.sections, *catalog.assignments)}:
            raise KataError(f"{course.said(one.name)} is called like a section; give it another name")
        for exercise in _set(catalog, course, one):
            if exercise.slug in set_as:
                first = set_as[exercise.slug][1].name
                raise KataError(
                    f"{course.said(one.name)} sets {exercise.slug}, as {first} does; take it out of one"
                )
            set_as[exercise.slug] = exercise, one
    known = {slug: replace(exercise, set_in=one.name) for slug, (exercise, one) in set_as.items()}
    sections = tuple(
        replace(s, exercises=tuple(known.get(e.slug, e) for e in s.exercises)) for s in catalog.sections
    )
    ours = tuple(
        Section(one.name, one.title, tuple(e for e in known.values() if e.set_in == one.name), one.due)
        for one in course.assignments
    )
    return Catalog(sections, ours)


def _set(catalog: Catalog, course: CourseFile, one: Assignment) -> list[Exercise]:
    """What the assignment holds, with its points. What it also names by itself is no extra."""
    exercises = _meant(catalog, course, one, one.exercises)
    extras = _meant(catalog, course, one, one.extras) if one.extras else ()
    weighing = _worth(exercises, course, one)
    return [*weighing, *(replace(e, points=0.0) for e in extras if e not in exercises)]


def _meant(
    catalog: Catalog, course: CourseFile, one: Assignment, names: Sequence[str]
) -> tuple[Exercise, ...]:
    try:
        found = catalog.select(list(names))
    except KataError as unknown:
        raise KataError(f"{course.said(one.name)}: {unknown}") from None
    if not found:
        raise KataError(f"{course.said(one.name)}: {', '.join(names)} holds nothing; name something else")
    return found


def _worth(exercises: Sequence[Exercise], course: CourseFile, one: Assignment) -> list[Exercise]:
    """The exercises with the points that the assignment gives them."""
    if one.total is not None:
        shares = _shared(one.total, [e.points for e in exercises])
        return [replace(e, points=points) for e, points in zip(exercises, shares, strict=True)]
    slugs = [e.slug for e in exercises]
    for slug in one.points:
        if slug not in slugs:
            raise KataError(
                f"{course.said(one.name)} gives points to {slug!r}, which is none of its exercises"
                f"{near(slug, slugs)}; name those that it lists, by their slugs"
            )
    return [replace(e, points=one.points.get(e.slug, e.points)) for e in exercises]


def _shared(total: float, weights: Sequence[float]) -> list[float]:
    """The total in parts as heavy as these, or equal ones where nothing weighs: in hundredths that add up."""
    heavy = list(weights) if any(weights) else [1.0] * len(weights)
    ends = [round(total * sum(heavy[: n + 1]) / sum(heavy), 2) for n in range(len(heavy))]
    ends[-1] = total
    return [round(end - begin, 4) for begin, end in zip([0.0, *ends], ends, strict=False)]
