"""What `kata watch` has judged: which version of which answer is running, and what waits for its turn."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from grader.course.exercise import Exercise
from grader.learner.outcome import Lesson, learn
from grader.protocol import transcript
from grader.protocol.job import Job
from grader.protocol.judge import Judge
from grader.records.capstones import is_untouched

AT_ONCE = 2
"""Runs of one exercise at a time: a save need not wait for the endless loop before it."""


@dataclass(frozen=True)
class JudgedVersion:
    """The verdict on one version of an answer."""

    lesson: Lesson
    version: int


class Runs:
    """Judges files as they are, in threads.

    Args:
        warm: who judges.
        jobs: answers at a time.
        judged: called with each verdict, from another thread; `ended` is to be told of it.
        tell: called when a run of an exercise begins, or with False where its file is gone.
    """

    def __init__(
        self,
        warm: Judge,
        jobs: int,
        judged: Callable[[JudgedVersion], None],
        tell: Callable[[Exercise, bool], None],
    ) -> None:
        self._warm = warm
        self._jobs = jobs
        self._judged = judged
        self._tell = tell
        self._threads = ThreadPoolExecutor(jobs)
        self._running: Counter[str] = Counter()
        self._versions: Counter[str] = Counter()  # the latest one of each exercise
        self._known: Counter[str] = Counter()  # and the latest one that was judged
        self._again: set[str] = set()  # saved while AT_ONCE older versions were running
        self._waiting: deque[Exercise] = deque()  # all are being checked: those not begun,
        self._batch: set[str] = set()  # and those not judged

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def is_open(self, slug: str) -> bool:
        """Whether the verdict on the latest version is still to come."""
        return self._versions[slug] != self._known[slug]

    def left(self) -> int:
        """How many of those that are checked all together are not judged yet."""
        return len(self._waiting) + len(self._batch)

    def begin(self, exercise: Exercise) -> None:
        """Judge the file as it is now, or as soon as no more than `AT_ONCE` of it are running."""
        slug = exercise.slug
        if self._running[slug] >= AT_ONCE:
            self._again.add(slug)
            return
        try:
            answer = exercise.content("exercises")
        except OSError:
            self._tell(exercise, False)
            return
        self._running[slug] += 1
        self._versions[slug] += 1
        self._threads.submit(self._judge, exercise, answer, self._versions[slug])
        self._tell(exercise, True)

    def begin_all(self, exercises: Iterable[Exercise]) -> None:
        """Judge those that somebody has begun, unless that is under way."""
        if not self._batch:
            there = [e for e in exercises if e.file("exercises").exists()]
            self._waiting.extend(e for e in there if not is_untouched(e))
            for _ in range(max(1, self._jobs - 1)):
                self._begin_one()

    def _begin_one(self) -> None:
        """One per worker, so that what is saved meanwhile need not queue behind them all."""
        if self._waiting:
            exercise = self._waiting.popleft()
            self._batch.add(exercise.slug)
            self.begin(exercise)

    def _judge(self, exercise: Exercise, answer: bytes, version: int) -> None:
        try:
            found = self._warm.judge_one(Job(exercise, answer, seed=0, mode="check"))
        except Exception as error:  # ours, but the loop must go on
            found = transcript.lost(f"{type(error).__name__}: {error}")
        expected = self._warm.inventory.get(exercise.slug, [])
        lesson = learn(exercise, expected, found, is_start=is_untouched(exercise, answer))
        self._judged(JudgedVersion(lesson, version))

    def ended(self, event: JudgedVersion) -> bool:
        """Begin what waits for the end of this run; whether its verdict is on the latest version."""
        exercise = event.lesson.exercise
        slug = exercise.slug
        self._running[slug] -= 1
        if slug in self._batch and not self._running[slug]:
            self._batch.discard(slug)
            self._begin_one()
        if slug in self._again:
            self._again.discard(slug)
            self.begin(exercise)
            return False
        if event.version != self._versions[slug]:
            return False
        self._known[slug] = event.version
        return True
