"""What becomes of each answer when another version of the course comes in."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.publish.update.held import Files, LocalAnswer, held
from grader.publish.update.merged import lacks, under

BESIDE = ".new"
"""What the name of a new start ends in that lies beside an answer."""


@dataclass(frozen=True)
class MergedAnswer:
    """One answer that somebody has begun: its files as they are to be, and what lies beside them, and why.

    `now` is where it is to lie; None of an exercise that is no part of the course any more. `was` are the
    paths of its files before, and `saved` says when that with the statement was.
    """

    slug: str
    before: LocalAnswer
    now: LocalAnswer | None
    was: tuple[str, ...]
    saved: int
    files: Files = field(default_factory=dict)
    beside: Files = field(default_factory=dict)
    why: str = ""

    @property
    def is_moved(self) -> bool:
        return self.now is not None and self.now.place != self.before.place

    @property
    def is_restated(self) -> bool:
        """Whether it stands under a new statement."""
        return self.now is not None and self.now.start != self.before.start

    def is_there(self, root: Path) -> bool:
        """Whether the folder holds all of it as it is to be."""
        written = {**self.files, **self.beside}
        return (
            self.now is not None
            and not self.is_moved
            and all(_holds(root, *file) for file in written.items())
        )


def outcomes(mine: Path, course: Path) -> Iterator[MergedAnswer]:
    """What becomes of the answers in the folder `mine`; `course` holds the new version, with its starts."""
    fresh = held(course)
    for slug, before in held(mine).items():
        files, now = before.files(), fresh.get(slug)
        if before.is_start(files):
            continue
        saved = (mine / before.statement).stat().st_mtime_ns
        one = MergedAnswer(slug, before, None, tuple(files), saved)
        if now is None or now.is_project != before.is_project:
            yield one
        else:
            yield _under(one, files, now)


def _under(one: MergedAnswer, files: Files, now: LocalAnswer) -> MergedAnswer:
    """An answer in the place of its start, under the new statement."""
    before = one.before
    moved = {now.place + path.removeprefix(before.place): content for path, content in files.items()}
    if now.start == before.start:
        return replace(one, now=now, files=moved)
    start = now.files()
    kept: dict[str, bytes] = {**start, **moved}
    why: list[str] = []
    for path in start.keys() & moved.keys():
        answer, given = _text(moved[path]), _text(start[path])
        if path.endswith(".py") and answer is not None and given is not None:
            why += lacks(answer, given)
            if path == now.statement:
                kept[path] = under(given, answer).encode()
        elif moved[path] != start[path]:
            why.append(f"{path.rpartition('/')[2]} as text")
    beside = {path + BESIDE: start[path] for path in start.keys() & moved.keys()} if why else {}
    return replace(one, now=now, files=kept, beside=beside, why=", ".join(why))


def _text(content: bytes) -> str | None:
    """None of what is no UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _holds(root: Path, path: str, content: bytes) -> bool:
    return (root / path).is_file() and (root / path).read_bytes() == content
