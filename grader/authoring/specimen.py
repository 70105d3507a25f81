"""Answers kept to try the suites on: wrong ones that must fail, right ones that must pass.

Each file under `tests/specimens/` defines `SPECIMENS`, a list of these. An answer is written out
in `code`, or as edits to the reference solution in `edits`: pairs of a text that occurs in it
exactly once and what stands there instead.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import KataError

Edits = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Specimen:
    """An answer and what it stands for: the mistake, or the way in which it is right but different."""

    about: str
    code: str = ""
    edits: Edits = ()

    def source(self, solution: str) -> str:
        """The whole answer as text, given the text of the reference solution."""
        if bool(self.code) == bool(self.edits):
            raise KataError(f"specimen {self.about!r} needs either code or edits")
        if self.code:
            return self.code
        for old, new in self.edits:
            if solution.count(old) != 1:
                times = solution.count(old)
                raise KataError(
                    f"specimen {self.about!r}: {old!r} occurs {times} times in the solution, not once"
                )
            solution = solution.replace(old, new)
        return solution


@dataclass(frozen=True)
class Wrong(Specimen):
    """A wrong answer: `check` is the test that must fail on it, `says` words its feedback must contain."""

    check: str = ""
    says: str = ""


@dataclass(frozen=True)
class Right(Specimen):
    """A right answer that is written differently."""


def read(file: Path) -> list[Specimen]:
    """The specimens of one exercise."""
    spec = importlib.util.spec_from_file_location(f"specimens_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[Specimen] = module.SPECIMENS
    return found
