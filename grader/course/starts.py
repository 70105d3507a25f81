"""The starts that learners are given: each is known by the digest that its catalog row holds."""

import re
from collections.abc import Iterable

from grader.core.errors import KataError
from grader.course import paths
from grader.course.exercise import Exercise
from grader.course.rows import row_file, rows_of

_START = re.compile(r"^start *=.*$", re.MULTILINE)


def is_untouched(exercise: Exercise) -> bool:
    """Whether the answer in `exercises/` is the start."""
    return exercise.file("exercises").is_file() and exercise.is_start(exercise.content("exercises"))


def expect(exercises: Iterable[Exercise]) -> None:
    """Raises KataError where a file is not its start: a solution would be given out."""
    changed = [paths.shown(e.place("exercises")) for e in exercises if not is_untouched(e)]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise KataError(
            f"not the start that students are to get: {', '.join(changed[:3])}{more}; `kata reset SLUG` or "
            "`git checkout FILE` puts it back, and `kata audit --write-starts` takes over a new one"
        )


def row(exercise: Exercise) -> str:
    """The line of the catalog for the file as it is."""
    return f'start = "{exercise.digest(exercise.content("exercises"))}"'


def write(exercises: Iterable[Exercise]) -> list[str]:
    """Take the files as they are for the starts; the slugs of those whose rows had to change."""
    changed = [e for e in exercises if e.file("exercises").is_file() and not is_untouched(e)]
    for file in sorted({row_file(e) for e in changed}):
        rows = {f"[exercise.{e.slug}]": row(e) for e in changed if row_file(e) == file}
        parts = rows_of(file.read_text("utf-8"))
        parts = [_with(part, rows.get(part.partition("\n")[0].strip())) for part in parts]
        file.write_text("".join(parts), "utf-8")
    return [e.slug for e in changed]


def _with(part: str, line: str | None) -> str:
    if line is None:
        return part
    if _START.search(part):
        return _START.sub(line, part, count=1)
    body = part.rstrip("\n")
    return f"{body}\n{line}\n{part[len(body) + 1 :]}"
