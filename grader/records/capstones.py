"""Which variant of each capstone lies in `exercises/`, which were done, which symptoms were last shown.

A clock runs only where somebody asked for one.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grader.core.errors import KataError
from grader.course import starts, variant
from grader.course.exercise import Exercise
from grader.records import progress_file

PART = "capstones"


@dataclass(frozen=True)
class Laid:
    """What is known of one capstone here: `failed` are the checks that last failed, None where none ran.

    `held` has those that passed at some time since this variant lies here: by each, how many seconds the
    timer had run when it first did. `begun` is when that began, None where nobody asked for a timer.
    """

    seed: int = 0
    start: str = ""
    done: tuple[int, ...] = ()
    failed: tuple[str, ...] | None = None
    held: Mapping[str, float | None] = field(default_factory=dict)
    begun: float | None = None

    @property
    def seconds(self) -> float | None:
        """How long the timer has run; None where none does."""
        return None if self.begun is None else max(now() - self.begun, 0.0)


def now() -> float:
    """The time of day, in seconds; tests have another."""
    return time.time()


def of(slug: str) -> Laid:
    """What is kept of a capstone; of what was damaged, nothing."""
    kept = progress_file.read()[PART].get(slug)
    try:
        failed, held = kept["failed"], kept.get("held", {})  # which earlier versions did not keep
        return Laid(
            int(kept["seed"]),
            str(kept["start"]),
            tuple(map(int, kept["done"])),
            None if failed is None else tuple(map(str, failed)),
            {str(check): _number(after) for check, after in held.items()},
            _number(kept.get("begun")),
        )
    except (AttributeError, TypeError, KeyError, ValueError):
        return Laid()


def _number(kept: Any) -> float | None:
    return None if kept is None else float(kept)


def expect(exercise: Exercise) -> None:
    """Raises KataError of what is no capstone."""
    if not exercise.is_capstone:
        raise KataError(f"{exercise.slug} is no capstone; `kata capstone --list` lists them")


def mine(exercise: Exercise) -> Exercise:
    """The exercise as it lies here: a capstone with the start of its variant."""
    known = of(exercise.slug) if exercise.is_capstone else Laid()
    return variant.as_known(exercise, known.seed, known.start) if known.start else exercise


def is_untouched(exercise: Exercise, answer: bytes | None = None) -> bool:
    """Whether an answer, or else what lies in `exercises/`, is the start that lies here."""
    own = mine(exercise)
    return starts.is_untouched(own) if answer is None else own.is_start(answer)


def lay(exercise: Exercise) -> None:
    """Note that this variant lies here now; the timer of one that is laid out again begins anew."""
    known = of(exercise.slug)
    is_timed = known.begun is not None and known.seed == exercise.variant
    laid = Laid(exercise.variant, exercise.start, known.done, begun=now() if is_timed else None)
    _write(exercise.slug, laid)


def time_from_now(exercise: Exercise) -> bool:
    """Have a timer run for the variant that lies here; False where one does already."""
    known = of(exercise.slug)
    if known.begun is None:
        _write(exercise.slug, replace(known, begun=now()))
    return known.begun is None


def saw(exercise: Exercise, failed: Iterable[str], passed: Iterable[str], *, is_solved: bool) -> None:
    """Note which checks just failed and passed, by their functions' names, and whether its job is done."""
    if exercise.is_capstone:
        known = of(exercise.slug)
        done = sorted({*known.done, known.seed}) if is_solved else known.done
        held = {**dict.fromkeys(passed, known.seconds), **known.held}
        _write(exercise.slug, replace(known, done=tuple(done), failed=tuple(failed), held=held))


def next_seed(slug: str) -> int:
    """The first variant that was not done."""
    done = of(slug).done
    return next(seed for seed in range(len(done) + 1) if seed not in done)


def _write(slug: str, laid: Laid) -> None:
    data: dict[str, Any] = progress_file.read()
    data[PART][slug] = vars(laid)
    progress_file.write(data)
