"""A little course of two sections, for what asks for exercises and not for their files."""

from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise


def exercise(slug: str, section: str, order: int, points: float = 2) -> Exercise:
    return Exercise(slug, section, order, slug, "build", "core", points, 1, (), (), (), "")


CATALOG = Catalog(
    (
        Section("e01_one", "One", (exercise("first", "e01_one", 1), exercise("second", "e01_one", 2))),
        Section("e02_two", "Two", (exercise("third", "e02_two", 3),)),
    )
)
