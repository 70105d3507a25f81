"""What the book says of whole programs with bugs: where they are, and how one is begun."""

from grader.course.catalog import Catalog
from grader.course.exercise import Exercise


def lead(catalog: Catalog) -> str:
    """A sentence for the first page, with a link for each section of them; "" where there are none."""
    found = {e.section for e in catalog.exercises if e.is_capstone}
    links = ", ".join(f"[{s.title}]({s.name}/index.md)" for s in catalog.sections if s.name in found)
    told = "When single exercises come easily, mend programs that run and are wrong in five places"
    return f"{told}: {links}. `kata capstone --list` lists them." if links else ""


def how(exercise: Exercise) -> str:
    """How to work on an exercise; a capstone comes back with other bugs."""
    watched = f"`kata watch {exercise.slug}`, or `pytest -k {exercise.slug}` in any shell."
    if not exercise.is_capstone:
        return f"To work on it: {watched}"
    bugs = f"{len(exercise.pool.names)} bugs"
    return (
        f"To work on it: `kata capstone {exercise.slug}`, then {watched} Five of {bugs} lie in it at a time; "
        f"once they are mended, `kata capstone {exercise.slug}` lays out others."
    )
