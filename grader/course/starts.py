"""The starts that learners are given: each is known by the digest that its catalog row holds."""

import ast
import re
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from grader.core.errors import KataError
from grader.core.packed import packed, unpacked
from grader.course import paths, project, variant
from grader.course.exercise import Exercise
from grader.course.rows import row_file, rows_of

_START = re.compile(r"^start *=.*$", re.MULTILINE)


def is_untouched(exercise: Exercise) -> bool:
    """Whether the answer in `exercises/` is the start."""
    return exercise.file("exercises").is_file() and exercise.is_start(exercise.content("exercises"))


@cache
def content(exercise: Exercise) -> bytes:
    """The start: what lies in `exercises/` or in the package, or else was committed, whichever is it.

    Raises:
        KataError: it is nowhere; a file in `exercises/` may hold a learner's work.
    """
    for source in (exercise, replace(exercise, root=paths.SOURCE)):
        if source.file("exercises").is_file() and exercise.is_start(found := source.content("exercises")):
            return found
    if exercise.is_capstone and exercise != variant.as_given(exercise):
        return _made(exercise)
    if exercise.is_capstone and (given := _given_again(exercise)):
        return given
    place = exercise.place("exercises").relative_to(exercise.root).as_posix()
    for commit in _git(exercise.root, "log", "--format=%H", "--diff-filter=AM", "--", place).decode().split():
        if exercise.is_start(found := _content_at(commit, place, exercise)):
            return found
    raise KataError(
        f"no commit here holds the start of {exercise.slug} that the catalog knows: "
        f"take {place} from where you got this copy"
    )


@cache
def as_variant(capstone: Exercise, seed: int) -> Exercise:
    """The capstone as this variant has it; raises KataError where that cannot be made here."""
    given = variant.as_given(capstone)
    return variant.of(given, seed, content(given)) if seed else given


def _made(capstone: Exercise) -> bytes:
    """The start of another variant than the course's own."""
    slug, seed = capstone.slug, capstone.variant
    found = variant.start(capstone, seed, content(variant.as_given(capstone)))
    if not capstone.is_start(found):
        raise KataError(f"{slug} has other bugs by now; `kata capstone {slug} --seed {seed}` lays them out")
    return found


def _given_again(capstone: Exercise) -> bytes | None:
    """The course's own start, where another variant lies there; None where something else does."""
    try:
        found = variant.start(capstone, 0, capstone.content("exercises"))
    except (KataError, OSError):
        return None
    return found if capstone.is_start(found) else None


def _content_at(commit: str, place: str, exercise: Exercise) -> bytes:
    """The answer as it was committed."""
    if not exercise.is_project:
        return _git(exercise.root, "show", f"{commit}:./{place}")
    listed = _git(exercise.root, "ls-tree", "-rz", "--name-only", commit, "--", f"{place}/").decode()
    names = [name.removeprefix(f"{place}/") for name in listed.split("\0") if name]
    parts = filter(project.is_part, names)
    return packed({name: _git(exercise.root, "show", f"{commit}:./{place}/{name}") for name in parts})


def _git(root: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise KataError(f"git cannot be asked about {root}; the start is in a clone's commits") from None
    return done.stdout


def is_same_code(exercise: Exercise, answer: bytes) -> bool:
    """Whether an answer is the start but for comments, docstrings and layout; the start must be here."""
    mine, given = (
        unpacked(held) if exercise.is_project else {"": held} for held in (answer, content(exercise))
    )
    return mine.keys() == given.keys() and all(
        mine[name] == given[name] or _code(mine[name]) == _code(given[name]) != "" for name in given
    )


def _code(source: bytes) -> str:
    """The statements of a file, without docstrings; "" of what is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                del node.body[: ast.get_docstring(node, clean=False) is not None]
    return ast.dump(tree)


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
    body = re.match(r"(?:.*\S.*\n?)+", part)  # what stands apart below is a remark on what follows
    end = body.end() if body else 0
    return f"{part[:end].rstrip()}\n{line}\n{part[end:]}"
