"""One answer to judge, and how: what every judge is asked."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from grader.course.catalog import load
from grader.course.exercise import Exercise


@dataclass(frozen=True)
class Job:
    """One answer to judge.

    `mode` is "judge" for checks and oracle, "check" for the checks alone with what the answer
    prints, "oracle" for the oracle alone. `only` holds the ids of checks to which judging is
    limited, without the oracle; where it is empty there is no limit. `shuffled` checks run in another order.
    """

    exercise: Exercise
    answer: bytes
    seed: int
    mode: Literal["judge", "check", "oracle"] = "judge"
    shuffled: bool = False
    only: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The exercise's."""
        return self.exercise.slug

    @property
    def examined(self) -> bool:
        """Whether the oracle is asked."""
        return self.mode != "check" and not self.only

    def told(self) -> dict[str, Any]:
        """All but the answer as plain data, of which `from_told` makes the job again."""
        rest = {name: value for name, value in vars(self).items() if name not in ("exercise", "answer")}
        return {"slug": self.slug, "seconds": self.exercise.seconds, **rest}


def from_told(slug: str, seconds: float, only: Any = (), **rest: Any) -> Job:
    """The job that `Job.told` told of; its answer is elsewhere.

    Raises:
        KataError: the catalog here holds no such exercise.
    """
    exercise = replace(load().exercise(slug), seconds=seconds)
    return Job(exercise, b"", only=tuple(only), **rest)
