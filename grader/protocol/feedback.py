"""What is told of a check that failed: made where it fails, kept as data, and put into words by each face."""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from grader.core.sanitize import MOST_CHARACTERS, MOST_LINES, plain
from grader.course.arrays import Array, Named
from grader.course.exercise import Exercise

ROOM = MOST_LINES - 2
"""Lines of feedback itself: the check's sentence stands above them, the way to a hint below."""

MOST_FITS = 8
"""Causes that are kept although they prove too little."""

RIGHT, WRONG = "·", "×"
"""How a map marks a value."""

Kind = Literal["", "rule", "slip", "error", "values", "pattern", "outside"]
"""What feedback rests on: a broken rule of the statement; a slip that Python itself names (a name that is
not there, say), or another error at a line of the answer; two values that differ; the same, where the likely
cause tells what the numbers look like and not where they come from; an error that no line of the answer had
a part in. "" for the words of a check."""


class Fact(NamedTuple):
    """One thing that is so, under its name ("yours", "wanted"), or a line that stands for itself."""

    name: str
    text: str


class Heatmap(NamedTuple):
    """Rows of `RIGHT` and `WRONG`, and which part of a tensor they show."""

    rows: tuple[str, ...]
    note: str = ""


class Listed(NamedTuple):
    """Small tensors that facts tell in full, by name, and the names of those facts."""

    tensors: Named
    facts: tuple[str, ...]

    @classmethod
    def of_json(cls, data: Any) -> "Listed":
        """Raises one of several errors where the data is none."""
        tensors, facts = data
        read = tuple((_text(name), Array.of_json(array)) for name, array in tensors[:MOST_LINES])
        return cls(read, tuple(map(_text, facts[:MOST_LINES])))


class Where(NamedTuple):
    """A line of the answer, its source and the values it held; the file alone where `line` is 0.

    In a notebook `file` is the cell.
    """

    file: str
    line: int = 0
    source: str = ""
    values: str = ""

    @property
    def lines(self) -> list[str]:
        values = [f"  where  {self.values}"] if self.values else []
        return [f"  {self.at}   {self.source}".rstrip(), *values]

    @property
    def at(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}" if self.file.endswith(".py") else f"{self.file}, line {self.line}"


@dataclass(frozen=True)
class Feedback:
    """Facts first, at most one likely cause. No text is indented; any may have several lines.

    `suspects` and `fits` hold causes that are not told, since chance explains them as well: mistakes that the
    suite knows, and what the numbers look like.
    """

    headline: str
    facts: tuple[Fact, ...] = ()
    heatmap: Heatmap | None = None
    likely: str = ""
    where: Where | None = None
    kind: Kind = ""
    suspects: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()
    listed: Listed | None = None

    @property
    def names_cause(self) -> bool:
        """Whether a learner reads what the mistake is, or where, and not only what came of it."""
        return self.kind in ("rule", "slip", "error") or (bool(self.likely) and self.kind != "pattern")

    @classmethod
    def from_json(cls, data: object) -> "Feedback | None":
        """What `to_json` made, from whoever sent it: None for what has another form."""
        try:
            return cls._read(data)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    @classmethod
    def _read(cls, data: Any) -> "Feedback":
        """Raises one of several errors where the data is no feedback."""
        kind = data.get("kind", "")  # which older records have not, as the three others
        suspects, fits = (tuple(map(_text, data.get(name, ()))) for name in ("suspects", "fits"))
        known = {"headline", "facts", "heatmap", "likely", "where"}
        if data.keys() - {"kind", "suspects", "fits", "listed"} != known or kind not in get_args(Kind):
            raise ValueError("no feedback")
        facts = tuple(Fact(_text(name), _text(text)) for name, text in data["facts"])
        heatmap, where = data["heatmap"], data["where"]
        if heatmap is not None:
            rows, note = heatmap
            heatmap = Heatmap(tuple(map(_text, rows)), _text(note))
        if where is not None:
            file, line, source, values = where
            if type(line) is not int or not 0 <= line < 1 << 31:
                raise ValueError("no line")
            where = Where(_text(file), line, _text(source), _text(values))
        headline, likely = _text(data["headline"]), _text(data["likely"])
        listed = Listed.of_json(data["listed"]) if data.get("listed") else None
        return cls(headline, facts, heatmap, likely, where, kind, suspects, fits, listed).short()

    def to_json(self) -> dict[str, Any]:
        """Plain data, as long as feedback may be."""
        short = self.short()
        heatmap = short.heatmap and [list(short.heatmap.rows), short.heatmap.note]
        return {
            "headline": short.headline,
            "facts": [list(fact) for fact in short.facts],
            "heatmap": heatmap,
            "likely": short.likely,
            "where": short.where and list(short.where),
            "kind": short.kind,
            "suspects": list(short.suspects),
            "fits": list(short.fits),
            "listed": short.listed
            and [[(n, vars(array)) for n, array in short.listed.tensors], short.listed.facts],
        }

    def short(self) -> "Feedback":
        """The same in plain characters, as many as feedback may have: the last facts give way to the rest."""
        room = MOST_CHARACTERS

        def cut(text: str) -> str:
            nonlocal room
            kept = plain(text[:room])
            room -= len(kept)
            return kept

        headline, likely = cut(self.headline), cut(self.likely)
        where, heatmap = self.where, self.heatmap
        if where:
            where = Where(cut(where.file), where.line, cut(where.source), cut(where.values))
        if heatmap:
            heatmap = Heatmap(tuple(map(cut, heatmap.rows[:MOST_LINES])), cut(heatmap.note))
        facts = tuple(Fact(cut(name), cut(text)) for name, text in self.facts[:MOST_LINES])
        suspects, fits = (tuple(map(cut, some[:MOST_FITS])) for some in (self.suspects, self.fits))
        return Feedback(headline, facts, heatmap, likely, where, self.kind, suspects, fits, self.listed)

    @property
    def lines(self) -> list[str]:
        """As text, in at most `ROOM` lines."""
        return self._laid(ROOM)

    def _laid(self, most: int) -> list[str]:
        """As text, in so many lines. What is told last is what facts are cut for."""
        head = _indented("", self.headline, 4)
        place = self.where.lines if self.where else []
        likely = _fact("likely", self.likely) if self.likely else []
        # Next to what it says; a file alone, which says no more than where to look, comes last.
        first, last = (place, likely) if self.where and self.where.line else ([], [*likely, *place])
        told = [line for name, text in self.facts for line in _fact(name, text)]
        if self.heatmap:
            note = f"   ({self.heatmap.note})" if self.heatmap.note else ""
            top, *rows = self.heatmap.rows or ("",)
            told += _fact("where", "\n".join([top + note, *rows]))
        room = max(most - len(head) - len(first) - len(last), 0)
        return [*head, *first, *told[:room], *last][:most]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def lines_for(self, exercise: Exercise, title: str, before: Exercise | None = None) -> list[str]:
        """All that a learner reads of a check: which one it is, what failed, what helps.

        Args:
            before: a step that the exercise builds on, and that is not done yet.
        """
        step = [f"  the step before this: {before.short}"] if before else []
        hint = [f"  hint: kata hint {exercise.slug}"] if exercise.hints else []
        return [f"{exercise.slug} · {title}", *self._laid(ROOM - len(step)), *step, *hint]

    def prefixed(self, words: str) -> "Feedback":
        """With these words before its headline."""
        return replace(self, headline=words + self.headline)


def _fact(name: str, text: str) -> list[str]:
    return _indented(f"  {name:<7} ", text, 10) if name else _indented("  ", text, 4)


def _indented(start: str, text: str, indent: int) -> list[str]:
    first, *rest = text.split("\n")
    return [f"{start}{first}", *(" " * indent + line for line in rest)]


def _text(value: object) -> str:
    if type(value) is not str:
        raise TypeError("no text")
    return value
