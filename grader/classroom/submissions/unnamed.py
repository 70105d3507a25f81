"""Python files that are called after no exercise, and the exercises whose functions they define."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from grader.classroom.submissions.decode import text
from grader.classroom.submissions.findings import Findings
from grader.classroom.submissions.io.folders import Refused, escaped, short
from grader.classroom.submissions.scopes import Scope
from grader.core.source_names import defines, is_python
from grader.course.exercise import Exercise
from grader.notebooks.start import asked

_DEFINED = re.compile(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_MOST_NAMED = 3
_MOST_FILES = 50


@dataclass(frozen=True, eq=False)
class _File:
    """What a file defines, and the exercises that it could have been meant for."""

    where: str
    content: bytes
    names: frozenset[str]
    scope: Scope
    is_python: bool

    def gives(self, exercise: Exercise) -> frozenset[str]:
        """Of what an exercise asks for, what is here."""
        return _wanted(exercise) & self.names if exercise in self.scope.exercises else frozenset()

    def answers(self, exercise: Exercise) -> bool:
        """Whether all of it is here."""
        return self.is_python and bool(given := self.gives(exercise)) and given == _wanted(exercise)


class Unnamed:
    """Gathers such files, until it is known which exercises have no other answer."""

    def __init__(self, exercises: tuple[Exercise, ...]) -> None:
        self._exercises = exercises
        self._files: list[_File] = []

    @cached_property
    def _every_name(self) -> frozenset[str]:
        return frozenset().union(*map(_wanted, self._exercises))

    def add(self, where: str, content: bytes, scope: Scope) -> bool:
        """Whether a file defines anything that is asked for; it is kept then.

        Raises:
            Refused: it does, and cannot be read.
        """
        seems = {name.decode("utf-8", "replace") for name in _DEFINED.findall(content)}
        try:
            plain = text(content)[0]
        except Refused:
            if seems & self._every_name:
                raise
            return False
        source = plain.decode("utf-8-sig")
        names = defines(source) or seems
        if not names & self._every_name:
            return False
        if len(self._files) >= _MOST_FILES:
            raise Refused("comes after too many others; hand in your answers alone")
        self._files.append(_File(short(where), plain, frozenset(names), scope, is_python(source)))
        return True

    def settle(self, found: Findings) -> Iterator[str]:
        """Take what is certain as an answer, and tell of it; what is not certain, a person has to look at."""
        missing = found.missing
        used: dict[_File, set[str]] = {file: set() for file in self._files}
        for exercise in missing:
            files = [file for file in self._files if file.answers(exercise)]
            for file in files:
                used[file] |= _wanted(exercise)
            different = [*{file.content: file for file in files}.values()]
            rivals = [e for e in missing if files and e != exercise and _contends(e, exercise, files[0])]
            if len(different) > 1:
                several = " and ".join(escaped(file.where) for file in different[:_MOST_NAMED])
                found.lose(f"{several} may each be the answer", Scope((exercise,)))
            elif rivals:
                several = f"{escaped(files[0].where)} may as well answer {rivals[0].slug}"
                found.lose(several, Scope((exercise,)))
            elif files:
                found.take(exercise, files[0].content)
                yield f"{files[0].where} taken for {exercise.name}"
        for file in self._files:
            for exercise in missing:
                if given := file.gives(exercise) - used[file]:
                    found.lose(f"{escaped(file.where)} {_why(file, given)}", Scope((exercise,)))


def _contends(other: Exercise, exercise: Exercise, file: _File) -> bool:
    """Whether what a file defines may be meant for the other exercise; what the course sets is likelier."""
    is_shared = file.answers(other) and _wanted(other) & _wanted(exercise)
    return bool(is_shared) and (bool(other.set_in) or not exercise.set_in)


def _why(file: _File, given: frozenset[str]) -> str:
    names = ", ".join(sorted(given)[:_MOST_NAMED])
    if not file.is_python:
        return f"has {names}, and is no Python that can be read"
    return f"defines {names}, and not all that is asked for"


@cache
def _wanted(exercise: Exercise) -> frozenset[str]:
    file = exercise.file("exercises")
    return frozenset(asked(file)) if file.is_file() and not exercise.is_project else frozenset()
