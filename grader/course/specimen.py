"""Answers kept to try the suites on: wrong ones must fail, natural ones must work, right ones must pass.

Each file under `tests/specimens/` defines `SPECIMENS`, a list of these. An answer is written out
in `code`, or as edits to the reference solution in `edits`: pairs of a text that occurs in it
exactly once and what stands there instead. Of a project `code` holds files by their names, each in
the place of the solution's, and a text of `edits` occurs once in all of the solution's files.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.core.errors import KataError
from grader.core.packed import packed, unpacked
from grader.course.exercise import Exercise

Edits = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Specimen:
    """An answer and what it stands for: the mistake, or the way in which it is right but different."""

    about: str
    code: str | Mapping[str, str] = ""
    edits: Edits = ()

    def content(self, exercise: Exercise) -> bytes:
        """The whole answer to `exercise`."""
        solution = exercise.content("solutions")
        if not exercise.is_project:
            return self.source(solution.decode("utf-8")).encode()
        return packed({name: text for name, text in self._made(unpacked(solution)).items()})

    def source(self, solution: str) -> str:
        """The whole answer as text, given the text of the reference solution."""
        return self._made({"": solution.encode()})[""].decode()

    def _made(self, solution: Mapping[str, bytes]) -> dict[str, bytes]:
        if bool(self.code) == bool(self.edits):
            raise KataError(f"specimen {self.about!r} needs either code or edits")
        files = dict(solution)
        code = {"": self.code} if isinstance(self.code, str) else self.code
        files |= {name: text.encode() for name, text in code.items()} if self.code else {}
        for old, new in self.edits:
            found = [name for name, content in files.items() for _ in range(content.count(old.encode()))]
            if len(found) != 1:
                raise KataError(
                    f"specimen {self.about!r}: {old!r} occurs {len(found)} times in the solution, not once"
                )
            files[found[0]] = files[found[0]].replace(old.encode(), new.encode())
        return files


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
class Works(Specimen):
    """A natural answer that does the job, as textbooks and well-known code write it.

    The oracle agrees and every check of the job passes; those of the fine print need not.
    """


@dataclass(frozen=True)
class Right(Specimen):
    """A right answer that is written differently: every check passes."""


def read(file: Path) -> list[Specimen]:
    """The specimens of one exercise."""
    spec = importlib.util.spec_from_file_location(f"specimens_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[Specimen] = module.SPECIMENS
    return found
