"""The specimens of an exercise, read from the text that holds them.

    wrong job test_values "features are the last": over the batch
    - mean(-1,
    + mean(0,

    works: as a textbook has it
    | def rms(x):
    |     return x.pow(2).mean(-1).sqrt()

A title says what it is (`wrong job`, `wrong fine`, `works`, `right`) and, after a colon, what it is about. A
wrong answer may name the check that refuses it, and words of the feedback; a capstone's bug has both, and a
name (`bug future test_future "a later token": the mask is missing`). Below stand places of the solution
that differ (`grader.course.patch`), apart by an empty line, or behind bars the whole answer. In a project,
`@ model.py` says of which file. Lines that begin with `#` are remarks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.core.errors import KataError
from grader.course import paths
from grader.course.patch import Hunk
from grader.course.specimen import Bug, Change, Right, Specimen, Works, Wrong

_TITLE = re.compile(
    r"""(?P<kind>works|right|wrong[ ](?P<rung>job|fine)(?:[ ](?P<check>test_\w+))?
        (?:[ ]"(?P<says>(?:[^"\\]|\\.)*)")?
        |bug[ ](?P<name>[a-z]\w*)[ ](?P<fails>test_\w+)[ ]"(?P<shows>(?:[^"\\]|\\.)*)"):[ ](?P<about>\S.*)""",
    re.VERBOSE,
)
_FORM = 'a title such as: wrong job test_values "what feedback says": what it is about'


def read(file: Path) -> list[Specimen]:
    """The specimens of one exercise; raises KataError with file and line where the text has another form."""
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError:
        raise KataError(f"{paths.shown(file)} is no UTF-8; save it as such") from None
    return list(parsed(text, paths.shown(file)))


def parsed(text: str, where: str) -> Iterator[Specimen]:
    """The specimens in a text, which `where` is the name of."""
    draft: _Draft | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if draft is not None:
                draft.gap()
        elif line[0] in "-+|@" and line[1:2] in ("", " "):
            if draft is None:
                raise KataError(f"{where}:{number}: before it comes {_FORM}")
            if line[0] == "-" and not line[2:].strip() and draft.is_at_edge:
                raise KataError(f"{where}:{number}: what is taken out begins with a line that is not empty")
            draft.add(line[0], line[2:])
        elif title := _TITLE.fullmatch(line.rstrip()):
            if draft is not None:
                yield draft.done()
            draft = _Draft(title, f"{where}:{number}")
        else:
            raise KataError(f"{where}:{number}: {line[:40]!r} is neither a line of an answer nor {_FORM}")
    if draft is not None:
        yield draft.done()


@dataclass
class _Draft:
    """A specimen that is being read."""

    title: re.Match[str]
    where: str
    _file: str = ""
    _whole: dict[str, list[str]] = field(default_factory=dict)
    _hunks: dict[str, list[Hunk]] = field(default_factory=dict)
    _out: list[str] = field(default_factory=list)
    _into: list[str] = field(default_factory=list)

    def add(self, mark: str, text: str) -> None:
        """A line below the title, without its mark."""
        if mark == "@":
            self.gap()
            self._file = text
        elif mark == "|":
            self._whole.setdefault(self._file, []).append(text)
        elif mark == "+":
            self._into.append(text)
        else:
            if self._into:
                self.gap()
            self._out.append(text)

    @property
    def is_at_edge(self) -> bool:
        """Whether the next line that is taken out begins a place."""
        return not self._out or bool(self._into)

    def gap(self) -> None:
        """Where one place of the solution ends."""
        if self._out or self._into:
            self._hunks.setdefault(self._file, []).append(Hunk(tuple(self._out), tuple(self._into)))
        self._out, self._into = [], []

    def done(self) -> Specimen:
        self.gap()
        if both := self._whole.keys() & self._hunks.keys():
            raise KataError(f"{self.where}: {min(both) or 'the answer'} is written out, and patched as well")
        whole = {name: "".join(f"{line}\n" for line in lines) for name, lines in self._whole.items()}
        changes: dict[str, Change] = {**whole, **{name: tuple(made) for name, made in self._hunks.items()}}
        if not changes:
            raise KataError(f"{self.where}: below the title there is neither a patch nor an answer")
        about, kind = self.title["about"], self.title["kind"]
        if name := self.title["name"]:
            shows = _unescaped(self.title["shows"])
            return Bug(about, changes, self.title["fails"], shows, "job", name, where=self.where)
        if kind != "works" and kind != "right":
            says = _unescaped(self.title["says"] or "")
            rung: Literal["job", "fine"] = "job" if self.title["rung"] == "job" else "fine"
            return Wrong(about, changes, self.title["check"] or "", says, rung, where=self.where)
        return (Works if kind == "works" else Right)(about, changes, where=self.where)


def _unescaped(words: str) -> str:
    """What stands between quotes, of which those inside have a backslash before them."""
    return re.sub(r"\\(.)", r"\1", words)
