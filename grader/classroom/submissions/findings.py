"""What was found of each exercise in a student's work: an answer, the start, or why a person has to look."""

from collections.abc import Sequence
from pathlib import PurePath

from grader.classroom.submissions.io.folders import escaped, short
from grader.classroom.submissions.scopes import Scope
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise

_MOST_LEFT = 100
_MOST_NAMED = 3
_DOCUMENTS = frozenset({".pdf", ".doc", ".docx", ".odt", ".rtf", ".pages", ".jpg", ".jpeg", ".heic"})
"""What people write answers in. Other pictures and texts may as well have come with the start."""


class Findings:
    """Gathers what was found; the first that there is of an exercise counts.

    Whoever handed in something gets no zero for what nobody could read: of an exercise that has no answer,
    whatever may hold one is a problem.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.answers: dict[str, bytes] = {}
        self.problems: dict[str, str] = {}
        self.kept: set[str] = set()
        self._catalog = catalog
        self._starts: dict[str, bytes] = {}
        self._lost: dict[str, str] = {}
        self._doubted: dict[str, str] = {}
        self._left: dict[Scope, list[str]] = {}
        self.heard = 0
        """How often anything was found, or was not."""

    def has(self, exercise: Exercise) -> bool:
        """Whether an answer was found, or what was meant to be one."""
        return exercise.slug in self.answers or exercise.slug in self.problems

    @property
    def missing(self) -> list[Exercise]:
        """The exercises of which nothing was found, or the start alone."""
        return [e for e in self._catalog.exercises if not self.has(e) and e.slug not in self.kept]

    def take(self, exercise: Exercise, content: bytes) -> None:
        """An answer; but where all of it is the start, one that is found later counts."""
        self.heard += 1
        is_given = exercise.is_start(content) or exercise.digest(content) in exercise.pool.handed_out
        kept = self._starts if is_given else self.answers
        kept.setdefault(exercise.slug, content)

    def fail(self, exercise: Exercise, reason: str) -> None:
        """What was meant to be an answer cannot be judged."""
        self.heard += 1
        self.problems[exercise.slug] = reason

    def keep(self, exercise: Exercise) -> None:
        """There is what `kata grade` wrote, and so an earlier record."""
        self.heard += 1
        self.kept.add(exercise.slug)

    def lose(self, reason: str, scope: Scope) -> None:
        """What was not read may have held answers to these exercises."""
        self.heard += 1
        lost = self._doubted if scope.is_whole else self._lost
        for exercise in scope.exercises:
            lost.setdefault(exercise.slug, reason)

    def leave(self, where: str, scope: Scope) -> None:
        """No answer is in this file, which may have been meant for these exercises."""
        self.heard += 1
        left = self._left.setdefault(scope, [])
        if len(left) < _MOST_LEFT:
            left.append(where)

    def settle(self) -> None:
        """Nothing more comes: starts are answers where there is no other, and what was lost is a problem."""
        for scope, files in self._left.items():
            self._look_at(files, scope)
        lost = self._doubted | self._lost
        for slug, start in self._starts.items():
            if slug not in self.problems and slug not in lost:
                self.answers.setdefault(slug, start)
        for slug, reason in lost.items():
            if slug not in self.answers:
                self.problems.setdefault(slug, reason)
        self.kept -= self.answers.keys() | self.problems.keys()

    @property
    def doubtful(self) -> frozenset[str]:
        """Problems of files that may have been meant for any exercise."""
        return frozenset(s for s, reason in self.problems.items() if reason == self._doubted.get(s))

    def _look_at(self, files: Sequence[str], scope: Scope) -> None:
        """Where none of these has an answer, it may be in what was left; beside starts, in documents."""
        slugs = {exercise.slug for exercise in scope.exercises}
        if slugs & (self.answers.keys() | self.problems.keys() | self.kept):
            return
        if slugs & self._starts.keys():
            files = [file for file in files if PurePath(file).suffix.lower() in _DOCUMENTS]
        if files:
            self.lose(f"no answer can be read in {_named(files)}", scope)


def _named(files: Sequence[str]) -> str:
    told = [escaped(short(file)) for file in files[:_MOST_NAMED]]
    if len(files) > _MOST_NAMED:
        told.append(f"{len(files) - _MOST_NAMED} more")
    return ", ".join(told[:-1]) + " and " * (len(told) > 1) + told[-1]
