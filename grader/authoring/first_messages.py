"""What a learner reads first of each wrong answer to the job, and whether it names the mistake."""

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from grader.authoring.coincidence import is_let_through, refused
from grader.authoring.untold import untold
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course import specimens
from grader.course.exercise import Exercise
from grader.course.specimen import Wrong
from grader.engine.pool import Pool
from grader.learner.outcome import Lesson, learn
from grader.protocol.job import Job

Kind = Literal["cause", "words", "bare"]
"""It tells a cause; it says what is wrong in words of the check; two values differ, and that is all."""

NOT_SEEN = "no check of the job fails here: only what comes out for fresh inputs is wrong"


@dataclass(frozen=True)
class FirstMessage:
    """The first message on one wrong answer. `untold` are causes that fit and are not told, and why."""

    exercise: Exercise
    about: str
    kind: Kind
    lines: tuple[str, ...]
    untold: tuple[str, ...] = ()
    refused: str = ""
    """How many fresh inputs refuse it, where the public checks let it through and most of those do not."""

    @property
    def names_mistake(self) -> bool:
        return self.kind != "bare"

    @property
    def group(self) -> str:
        """The section, or its steps."""
        return f"{self.exercise.section}/steps" if self.exercise.is_step else self.exercise.section


@dataclass(frozen=True)
class FirstMessages:
    """The first messages of a section's exercises, or of its steps."""

    name: str
    messages: tuple[FirstMessage, ...]

    @property
    def share(self) -> float:
        """How many of them name the mistake, from 0 to 1."""
        return sum(message.names_mistake for message in self.messages) / len(self.messages)

    def __str__(self) -> str:
        named, words = (sum(m.kind == kind for m in self.messages) for kind in ("cause", "words"))
        count = len(self.messages)
        return f"{self.name}: {named + words} of {count} ({self.share:.0%}), {words} in words of the check"


def first_messages(exercises: tuple[Exercise, ...], progress: Progress = silent) -> list[FirstMessage]:
    """The first message on each wrong answer to the job of these exercises."""
    about: dict[int, str] = {}
    jobs: list[Job] = []
    found, let_through = [], []
    for exercise in exercises:
        try:
            for kept in specimens.read(exercise.file("specimens")):
                if isinstance(kept, Wrong) and kept.rung == "job":
                    jobs.append(Job(exercise, kept.content(exercise), 0, mode="check"))
                    about[id(jobs[-1])] = kept.about
        except KataError as broken:  # `kata audit` says the same
            found.append(FirstMessage(exercise, "cannot be read", "bare", (str(broken),)))
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        for done, (job, transcript) in enumerate(pool.judge(jobs), start=1):
            expected = pool.inventory.get(job.slug, [])
            lesson = learn(job.exercise, expected, transcript)
            message = _first(lesson, about[id(job)])
            if is_let_through(expected, transcript, lesson):
                let_through.append((message, job))
            else:
                found.append(message)
            progress(done, len(jobs))
        counts = refused(pool, [job for _, job in let_through])
    found += [replace(m, refused=count) for (m, _), count in zip(let_through, counts, strict=True)]
    place = {exercise: number for number, exercise in enumerate(exercises)}
    return sorted(found, key=lambda message: (place[message.exercise], message.about))


def groups(messages: Iterable[FirstMessage]) -> list[FirstMessages]:
    """The messages by section, the worst first; in each, first those that name no mistake."""
    of: dict[str, list[FirstMessage]] = defaultdict(list)
    for message in messages:
        of[message.group].append(message)
    found = [
        FirstMessages(name, tuple(sorted(some, key=lambda m: m.names_mistake))) for name, some in of.items()
    ]
    return sorted(found, key=lambda group: group.share)


def _first(lesson: Lesson, about: str) -> FirstMessage:
    if lesson.trouble:
        return FirstMessage(lesson.exercise, about, "cause", tuple(lesson.trouble.splitlines()))
    first = next((failure for failure in lesson.failures if not failure.fine), None)
    if first is None:
        return FirstMessage(lesson.exercise, about, "bare", (NOT_SEEN,))
    told = first.feedback
    kind: Kind = "cause" if told.names_cause else "words" if told.kind == "" else "bare"
    lines = tuple(told.lines_for(lesson.exercise, first.title))
    return FirstMessage(lesson.exercise, about, kind, lines, tuple(untold(told)))
