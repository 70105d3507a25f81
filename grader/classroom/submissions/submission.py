"""What of one student's work there is to judge."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from grader.course.exercise import Exercise


@dataclass(frozen=True)
class Submission:
    """One student's answers, by slug in no particular order.

    A file that is there but cannot be judged is in `problems`, with the reason; an exercise in
    neither was not handed in. `student` is the folder's name, with what cannot be printed
    written as an escape: it is safe in a file name, in JSON and on a terminal.

    `kept` are exercises of which there is only what `kata grade` wrote for formgrader: their records stay.
    `doubtful` are problems that nothing but their file tells of: it may hold an answer to any exercise.
    `times` holds nbgrader's time stamps by assignment, as they stand in `timestamp.txt`. `late` is what
    a platform tells without a time; None where it tells nothing.
    """

    student: str
    answers: Mapping[str, bytes] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)
    late: bool | None = None
    kept: frozenset[str] = frozenset()
    doubtful: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def meant(self) -> Set[str]:
        """The exercises that were meant to be handed in, as far as what is there tells."""
        return self.answers.keys() | self.problems.keys() - self.doubtful

    def holds(self, exercise: Exercise) -> bool:
        """Whether it has an answer that somebody wrote: the start as it was is none."""
        answer = self.answers.get(exercise.slug)
        return answer is not None and not exercise.is_start(answer)


def is_late(told: Sequence[bool | None]) -> bool | None:
    """Whether any part of a hand-in is, by what is told of each; None where nothing is told of any."""
    return any(told) if told.count(None) < len(told) else None
