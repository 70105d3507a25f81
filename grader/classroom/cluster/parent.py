"""The grading parent's side of a cluster: which answers go where, and where again after a loss."""

import json
import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from grader.classroom.cluster import worker as remote
from grader.classroom.cluster.member import ClusterWorker
from grader.classroom.cluster.replies import NO_REPLY, WorkerRefused
from grader.classroom.cluster.roster import ClusterRoster
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript, from_json, lost

MOST_ANSWERS, MOST_BYTES = 16, 4 << 20
"""What one batch may hold."""

BATCHES_EACH = 4
"""Batches to cut the waiting answers into, for each worker: so nobody waits long for the last one."""

MOST_LOSSES = 3
"""Workers that may be lost with an answer, before it is left to a person."""


_LOST = lost("the workers that judged it were lost")


@dataclass(eq=False)
class Answer:
    """An answer on its way, and how often what judged it was lost."""

    job: Job
    losses: int = 0


class Cluster:
    """The workers of a Dask scheduler, with the face of `grader.engine.pool.Pool`."""

    def __init__(self, roster: ClusterRoster) -> None:
        self._roster = roster

    def __enter__(self) -> "Cluster":
        """Reach the scheduler, and wait until workers can judge."""
        try:
            self._roster.connect()
            while not self._roster.inventory:
                self._roster.look()
                for _ in self._roster.replies():
                    pass
        except BaseException:
            self._roster.close()
            raise
        self.inventory = self._roster.inventory
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._roster.close()

    def close(self) -> None:
        """Leave the scheduler, and end this machine's engine."""
        self._roster.close()

    def reference(self, job: Job) -> Transcript:
        """Run the oracle on a reference solution, on this machine: solutions do not travel."""
        assert self._roster.local is not None
        return self._roster.local.reference(job)

    def judge_one(self, job: Job) -> Transcript:
        """Judge one answer, on any worker."""
        return next(found for _, found in self.judge([job]))

    def judge(self, asked: Iterable[Job]) -> Iterator[tuple[Job, Transcript]]:
        """Judge the answers, on whichever workers there are; in the order they finish."""
        waiting = deque(map(Answer, asked))
        left = len(waiting)
        while left:
            back = [(answer, _LOST) for answer in self._roster.look()]
            self._hand_out(waiting)
            for answer, found in [*back, *self._news()]:
                answer.losses += bool(found.ended.lost)
                if found.ended.lost and answer.losses < MOST_LOSSES:
                    waiting.appendleft(answer)
                else:
                    left -= 1
                    yield answer.job, found

    def _hand_out(self, waiting: deque[Answer]) -> None:
        ready = self._roster.ready()
        while waiting and (free := [worker for worker in ready if _has_room(worker, waiting[0])]):
            worker = min(free, key=lambda worker: worker.answers / worker.jobs)
            batch = _batch(waiting, math.ceil(len(waiting) / (BATCHES_EACH * len(ready))))
            texts = json.dumps([_text(answer.job) for answer in batch])
            self._roster.send(worker, remote.judge, worker.settings, texts, batch=batch)

    def _news(self) -> Iterator[tuple[Answer, Transcript]]:
        for worker, batch, reply in self._roster.replies():
            if reply is None:
                yield from ((answer, _LOST) for answer in batch)
                continue
            try:
                yield from zip(batch, _transcripts(reply, len(batch)), strict=True)
            except WorkerRefused as refused:
                back = [*batch, *self._roster.refuse(worker, refused)]
                yield from ((answer, _LOST) for answer in back)


def _has_room(worker: ClusterWorker, answer: Answer) -> bool:
    """Whether it would soon have nothing to do. An answer that is likely to be a danger is there alone."""
    if any(_is_dangerous(other) for task in worker.tasks.values() for other in task.batch):
        return False
    if _is_dangerous(answer):
        return not worker.tasks
    return len(worker.tasks) < 2 or worker.answers < 2 * worker.jobs


def _is_dangerous(answer: Answer) -> bool:
    return answer.losses == MOST_LOSSES - 1


def _batch(waiting: deque[Answer], most: int) -> list[Answer]:
    """The next answers. One that has been lost goes by itself: the loss may be its doing."""
    batch = [waiting.popleft()]
    size = len(batch[0].job.answer)
    while waiting and len(batch) < min(most, MOST_ANSWERS) and not batch[0].losses:
        size += len(waiting[0].job.answer)
        if waiting[0].losses or size > MOST_BYTES:
            break
        batch.append(waiting.popleft())
    return batch


def _text(job: Job) -> dict[str, Any]:
    return {**job.told(), "answer": job.answer.decode("utf-8", "surrogateescape")}


def _transcripts(reply: dict[str, Any], count: int) -> list[Transcript]:
    texts = reply.get("transcripts")
    if not isinstance(texts, list) or len(texts) != count:
        raise WorkerRefused(NO_REPLY)
    try:
        return [from_json(text) for text in texts]
    except (TypeError, ValueError):
        raise WorkerRefused(NO_REPLY) from None
