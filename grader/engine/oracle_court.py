"""The court that asks oracles. No suite is here, and nothing that a suite compares with.

So an answer finds nothing to dig for where it counts: its values are compared elsewhere with what the
reference solution gives in a process of its own.
"""

import gc
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from grader.core.errors import KataError
from grader.course import sources
from grader.course.exercise import SLOW_SECONDS, Exercise
from grader.engine import oracle
from grader.engine.court import ChildSpec
from grader.engine.oracle_child import OracleChild
from grader.protocol.job import Job, from_told
from grader.sandbox import Limits


class OracleCourt:
    """Everything that a child inherits which asks an oracle.

    Which exercises start ranks or are slow, their suites say, and so the other side.
    """

    def __init__(self, exercises: Sequence[Exercise], *, confined: bool) -> None:
        self.confined = confined
        self.hidden = tuple(sources.each("tests"))
        self.on_ranks: frozenset[str] = frozenset()
        self.slow: frozenset[str] = frozenset()
        self._modules = {exercise.slug: _apart(exercise) for exercise in exercises}
        self._warm: set[str] = set()

    def warm_up_for(self, slug: str) -> None:
        """Run the `warm_up` that stands beside the oracle, once in each worker."""
        hook: Callable[[], object] | None = getattr(self._modules[slug], "warm_up", None)
        if hook is None or slug in self._warm:
            return
        self._warm.add(slug)  # one that raises would do so again
        try:
            hook()
        finally:
            gc.freeze()

    def seconds(self, job: Job) -> float:
        """How long the oracle may take."""
        return job.exercise.seconds + (SLOW_SECONDS if job.slug in self.slow else 0.0)

    def spec(self, told: dict[str, Any]) -> ChildSpec:
        """What the job wants that this tells of: its oracle."""
        job = from_told(**told)
        module, limit, on_ranks = self._modules[job.slug], self.seconds(job), job.slug in self.on_ranks
        return ChildSpec(
            lambda telling, _: OracleChild(module, job, telling, limit, on_ranks=on_ranks),
            limit,
            Limits(network=on_ranks),
            warm_up=partial(self.warm_up_for, job.slug),
        )


def _apart(exercise: Exercise) -> ModuleType | KataError:
    """The oracle's module, or what is wrong with it, which the first answer's child tells."""
    try:
        return oracle.apart(*map(exercise.file, exercise.suites))
    except Exception as error:
        return error if isinstance(error, KataError) else KataError(f"the oracle does not import: {error}")
