"""Symptoms, as people say them, each with what to look at, in order: `exercises/symptoms/*.md`.

# <Kind>

## <Symptom, as a sentence>

Said: <another way to say it>; <a third>

| Look at | It tells | Do |
|---|---|---|
| `<an expression, or $ a command>` | <what is seen> | <what to do about it> |

Met in: `<slug>`, `<slug>`
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.course import chapter, sources

FOLDER = "symptoms"

_CHECK = re.compile(r"^\| `(?P<look>[^|]+)` \| (?P<tells>[^|]+) \| (?P<do>[^|]+) \|$", re.MULTILINE)
_SAID = re.compile(r"^Said: (.+?)$(?=\n\n)", re.MULTILINE | re.DOTALL)
_MET = re.compile(r"^Met in: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Probe:
    """One thing to look at: an expression, what may be seen there, and what to do then."""

    look: str
    tells: str
    do: str


@dataclass(frozen=True)
class Symptom:
    """What somebody sees, its kind, how else it is said, what to look at in order, and where it is met."""

    name: str
    kind: str
    said: tuple[str, ...]
    checks: tuple[Probe, ...]
    slugs: tuple[str, ...]

    @property
    def slug(self) -> str:
        """Its page's name: ``the_loss_turns_nan``."""
        return re.sub(r"\W+", "_", self.name.casefold()).strip("_")


def read() -> Iterator[Symptom]:
    """All symptoms that the course and its sources tell of, in the order of their files."""
    for folder in sources.each("exercises", FOLDER):
        for file in sorted(folder.glob("*.md")):
            yield from parsed(file.read_text("utf-8"))


def parsed(text: str) -> Iterator[Symptom]:
    """The symptoms of one file."""
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    kind = head.strip().partition("\n")[0].removeprefix("# ")
    for part in parts:
        name, _, body = part.partition("\n")
        said, met = _SAID.search(f"{body}\n\n"), _MET.search(body)
        yield Symptom(
            name.strip(),
            kind,
            tuple(" ".join(one.split()) for one in said[1].split(";")) if said else (),
            tuple(Probe(row["look"], row["tells"], row["do"]) for row in _CHECK.finditer(body)),
            chapter.slugs(met[1]) if met else (),
        )
