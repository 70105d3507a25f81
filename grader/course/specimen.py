"""Answers kept to try the suites on: wrong ones must fail, natural ones must work, right ones must pass.

`tests/specimens/` has a text for each exercise: answers with a title, one below the other (`read` tells how).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from grader.core.errors import KataError
from grader.core.packed import packed, unpacked
from grader.course.exercise import Exercise
from grader.course.patch import DoesNotApply, Hunk

Change = str | tuple[Hunk, ...]
"""What becomes of a file: it is written anew, or some places of the solution's differ."""


@dataclass(frozen=True)
class Specimen:
    """An answer and what it stands for: the mistake, or the way in which it is right but different.

    `changes` holds what it does to the solution: of a project by the name of a file, else under "". Places
    under "" of a project may be in any of its files.
    """

    about: str
    changes: Mapping[str, Change]
    where: str = field(default="", kw_only=True)
    """The file and the line that it stands in, for people."""

    def content(self, exercise: Exercise) -> bytes:
        """The whole answer to `exercise`; raises KataError where its patch does not fit the solution."""
        solution = exercise.content("solutions")
        if not exercise.is_project:
            return self.source(solution.decode("utf-8")).encode()
        return packed(self.applied(unpacked(solution)))

    def applied(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """A project's files with the change; raises KataError where it does not fit them."""
        with self._placed():
            return self._project(files)

    def source(self, solution: str) -> str:
        """The whole answer as text, given the text of the reference solution."""
        with self._placed():
            return _changed(solution, self.changes[""])

    @contextmanager
    def _placed(self) -> Iterator[None]:
        try:
            yield
        except DoesNotApply as mismatch:
            raise KataError(f"{self.where}: {mismatch}") from None

    def _project(self, solution: Mapping[str, bytes]) -> dict[str, bytes]:
        files = dict(solution)
        for name, change in self.changes.items():
            if name or isinstance(change, str):
                old = files.get(name, b"").decode("utf-8")
                files[name] = _changed(old, change).encode()
                continue
            for hunk in change:
                place = _holder(hunk, files)
                files[place] = hunk.apply(files[place].decode("utf-8")).encode()
        return files


def _changed(text: str, change: Change) -> str:
    if isinstance(change, str):
        return change
    for hunk in change:
        text = hunk.apply(text)
    return text


def _holder(hunk: Hunk, files: Mapping[str, bytes]) -> str:
    if not hunk.out:
        raise DoesNotApply(f"{hunk.into[0]!r} and what follows: say in which file they come, as @ model.py")
    counts = {name: hunk.occurs(content.decode("utf-8", "replace")) for name, content in files.items()}
    if sum(counts.values()) != 1:
        raise DoesNotApply(
            f"{hunk.out[0]!r} occurs {sum(counts.values())} times in the solution's files, not once"
        )
    return max(counts, key=lambda name: counts[name])


@dataclass(frozen=True)
class Wrong(Specimen):
    """A wrong answer: `check` is the test that must fail on it, `says` words its feedback must contain.

    One of the rung "job" must not work: a check of the job or the oracle must fail on it. One of the rung
    "fine" must not pass, and may work.
    """

    check: str = ""
    says: str = ""
    rung: Literal["job", "fine"] = "fine"


@dataclass(frozen=True)
class Bug(Wrong):
    """One of a capstone's bugs: its check fails, with words of its symptom, alone and beside others."""

    name: str = ""


@dataclass(frozen=True)
class Works(Specimen):
    """A natural answer that does the job, as textbooks and well-known code write it.

    The oracle agrees and every check of the job passes; those of the fine print need not.
    """


@dataclass(frozen=True)
class Right(Specimen):
    """A right answer that is written differently: every check passes."""
