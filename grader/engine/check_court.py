"""The court that runs checks: suites are collected once, and children inherit them."""

import gc
from dataclasses import asdict
from functools import partial
from typing import Any

from grader.checks import devices
from grader.course import sources
from grader.course.exercise import Exercise
from grader.engine import collection
from grader.engine.child import Child
from grader.engine.collection import Suites
from grader.engine.court import ChildSpec
from grader.engine.integrity.guard import Guard
from grader.plugin import markers
from grader.protocol.job import Job, from_told
from grader.sandbox import Limits


class CheckCourt:
    """Everything that a child inherits which runs checks."""

    def __init__(self, exercises: tuple[Exercise, ...], *, confined: bool) -> None:
        self.suites: Suites = collection.collect(exercises)
        self.guard = Guard(self.suites.modules)
        self.confined = confined
        self.hidden = tuple(sources.each("tests"))
        self._warm: set[str] = set()
        items = {slug: [check.item for check in found] for slug, found in self.suites.checks.items()}
        self.on_ranks = frozenset(slug for slug in items if markers.needs_ranks(items[slug]))
        self.slow = frozenset(slug for slug in items if markers.is_slow(items[slug]))
        # A worker can install the simulated device once for all answers to an exercise. Not where ranks are
        # started: their launcher must come first.
        needing = frozenset(slug for slug in items if markers.needs_device(items[slug]))
        self.on_device = needing - self.on_ranks

    def warm_up_for(self, slug: str) -> None:
        """Run the `warm_up` of an exercise's suites, once in each worker, when its first answer comes.

        It pays for what only this exercise makes torch import, which would take every answer seconds.
        """
        if slug in self._warm:
            return
        self._warm.add(slug)  # one that raises would do so again
        hooks = [module.warm_up for module in self.suites.modules.get(slug, ()) if hasattr(module, "warm_up")]
        if not hooks:
            return
        try:
            with self.suites.shown(slug):
                for hook in hooks:
                    hook()
        finally:
            self.guard = Guard(self.suites.modules)
            gc.freeze()

    def install_device(self) -> None:
        """Install the simulated device for all children to come."""
        devices.install()
        self.guard.broken("")  # takes the names that classes gain by it for known
        gc.freeze()

    def inventory(self) -> dict[str, Any]:
        """Every check that an answer is expected to pass, and what this machine lacks for it."""
        checks = {slug: [asdict(check.spec) for check in found] for slug, found in self.suites.checks.items()}
        none = dict.fromkeys(self.suites.faults, ())
        return {"checks": none | checks, "on_ranks": [*self.on_ranks], "slow": [*self.slow]}

    def seconds(self, job: Job) -> float:
        """How long judging may take."""
        checks = self.suites.checks.get(job.slug, ())
        items = [check.item for check in checks if not job.only or check.spec.id in job.only]
        return markers.seconds_for(items, job.exercise.seconds)

    def spec(self, told: dict[str, Any]) -> ChildSpec:
        """What the job wants that this tells of: its checks."""
        job = from_told(**told)
        return ChildSpec(
            lambda telling, _: Child(self.suites, self.guard, job, telling),
            self.seconds(job),
            Limits(network=job.slug in self.on_ranks),  # ranks talk by ports; nobody else does
            apart=self.install_device if job.slug in self.on_device else None,
            warm_up=partial(self.warm_up_for, job.slug),
        )
