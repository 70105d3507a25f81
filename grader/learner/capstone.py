"""`kata capstone`: lay a variant of a broken program into `exercises/`, or tell which there are."""

from collections.abc import Iterator

from grader.course import paths, project, starts, variant
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.learner import commands
from grader.records import capstones


def lay(name: str, seed: int | None = None, *, timer: bool = False) -> str:
    """Lay out a variant, or the next that was not done; which one it is and how to begin, for printing.

    With a `timer`, how long each bug takes is kept from now on.

    Raises:
        KataError: it is no capstone, or what its variants are made of is not here.
    """
    exercise = capstones.mine(load().find(name))
    slug, place = exercise.slug, exercise.place("exercises")
    capstones.expect(exercise)
    seed = capstones.next_seed(slug) if seed is None else seed
    wanted = starts.as_variant(exercise, seed)
    if seed == exercise.variant and place.exists():
        told = [
            f"variant {seed} of {slug} lies in {paths.shown(place)} already; `kata reset {slug}` puts it back"
        ]
    else:
        told = _put(exercise, wanted)
    if timer:
        told.append(f"the timer runs {'from now on' if capstones.time_from_now(exercise) else 'already'}")
    readme = place / "README.md"
    about = readme if readme.is_file() else place / project.START
    return "\n".join([*told, f"read {paths.shown(about)} first", f"next: kata watch {slug}"])


def _put(before: Exercise, wanted: Exercise) -> list[str]:
    """Write the start of a variant in the place of another."""
    kept = commands.put_back(wanted, before)
    place = paths.shown(wanted.place("exercises"))
    told = f"variant {wanted.variant} of {wanted.slug} lies in {place}: {variant.SIZE} bugs"
    return [told, *([f"your version is in {paths.shown(kept)}"] if kept else [])]


def listed(name: str = "") -> list[str]:
    """A line for each capstone, or for one: where it lies, and which variants were done."""
    catalog = load()
    chosen = (catalog.find(name),) if name else catalog.exercises
    return list(_lines(chosen)) or ["no exercise here is a capstone"]


def _lines(chosen: tuple[Exercise, ...]) -> Iterator[str]:
    for exercise in chosen:
        if exercise.is_capstone:
            known = capstones.of(exercise.slug)
            done = ", ".join(map(str, known.done)) or "none"
            bugs = len(exercise.pool.names)
            yield f"{exercise.slug}: {bugs} bugs; variant {known.seed} lies here; done: {done}"
