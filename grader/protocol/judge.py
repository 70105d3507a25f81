"""Whoever judges answers: this machine's engine, fresh processes, or a cluster."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript


class Judge(Protocol):
    """Judges answers, from as many threads as it was made for."""

    @property
    def inventory(self) -> Mapping[str, Sequence[CheckSpec]]:
        """The checks of each exercise, by slug; of those judged so far, where nothing is warm."""

    def judge_one(self, job: Job) -> Transcript:
        """Judge one answer."""

    def judge(self, asked: Iterable[Job]) -> Iterator[tuple[Job, Transcript]]:
        """Judge many, in the order they finish."""

    def reference(self, job: Job) -> Transcript:
        """Judge a reference solution, where no answer can find it."""

    def close(self) -> None:
        """End all processes."""
