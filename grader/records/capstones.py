"""Which variant of each capstone lies in `exercises/`, which were done, which symptoms were last shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from grader.course import variant
from grader.course.exercise import Exercise
from grader.records import progress_file

PART = "capstones"


@dataclass(frozen=True)
class Laid:
    """What is known of one capstone here: `failed` are the checks that last failed, None where none ran."""

    seed: int = 0
    start: str = ""
    done: tuple[int, ...] = ()
    failed: tuple[str, ...] | None = None


def of(slug: str) -> Laid:
    """What is kept of a capstone; of what was damaged, nothing."""
    kept = progress_file.read()[PART].get(slug)
    try:
        failed = kept["failed"]
        return Laid(
            int(kept["seed"]),
            str(kept["start"]),
            tuple(map(int, kept["done"])),
            None if failed is None else tuple(map(str, failed)),
        )
    except (TypeError, KeyError, ValueError):
        return Laid()


def mine(exercise: Exercise) -> Exercise:
    """The exercise as it lies here: a capstone with the start of its variant."""
    known = of(exercise.slug) if exercise.is_capstone else Laid()
    return variant.as_known(exercise, known.seed, known.start) if known.start else exercise


def lay(exercise: Exercise) -> None:
    """Note that this variant lies here now."""
    _write(exercise.slug, Laid(exercise.variant, exercise.start, of(exercise.slug).done))


def saw(exercise: Exercise, failed: Iterable[str], *, is_solved: bool) -> None:
    """Note which checks just failed, by the names of their functions, and whether its job is done."""
    if exercise.is_capstone:
        known = of(exercise.slug)
        done = sorted({*known.done, known.seed}) if is_solved else known.done
        _write(exercise.slug, Laid(known.seed, known.start, tuple(done), tuple(failed)))


def next_seed(slug: str) -> int:
    """The first variant that was not done."""
    done = of(slug).done
    return next(seed for seed in range(len(done) + 1) if seed not in done)


def _write(slug: str, laid: Laid) -> None:
    data: dict[str, Any] = progress_file.read()
    data[PART][slug] = vars(laid)
    progress_file.write(data)
