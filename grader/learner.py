"""The verbs of a learner: `hint`, `reset`, `solution`."""

import difflib
import subprocess
import time
from pathlib import Path

from grader import paths, progress, starts
from grader.catalog import Exercise, load
from grader.errors import KataError

BACKUPS = paths.STATE / "backups"


def hint(name: str) -> str:
    """The next hint, and how many there are. After the last one they start over."""
    exercise = load().find(name)
    slug = exercise.slug
    if not exercise.hints:
        raise KataError(f"{slug} has no hints; its statement is in {paths.shown(exercise.file('exercises'))}")
    given = progress.next_hint(slug, len(exercise.hints))
    return f"hint {given + 1}/{len(exercise.hints)}  {exercise.hints[given]}"


def reset(name: str) -> str:
    """Put the start back and keep what was there; where it is kept, for printing."""
    exercise = load().find(name)
    file = exercise.file("exercises")
    if starts.is_untouched(exercise):
        return f"{paths.shown(file)} is at its start already"
    start = _start(exercise)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(start)
        return f"{paths.shown(file)} is back at its start"
    kept = _keep(exercise, file)
    file.write_bytes(start)
    progress.forget(exercise.slug)
    return f"{paths.shown(file)} is back at its start; your version is in {paths.shown(kept)}"


def _keep(exercise: Exercise, file: Path) -> Path:
    BACKUPS.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = BACKUPS / f"{exercise.stem}-{stamp}.py"
    number = 1
    while kept.exists():
        number += 1
        kept = BACKUPS / f"{exercise.stem}-{stamp}-{number}.py"
    kept.write_bytes(file.read_bytes())
    return kept


def _start(exercise: Exercise) -> bytes:
    """The start, from git: the newest version that is it; others hold the learner's own work."""
    place = exercise.file("exercises").relative_to(paths.ROOT).as_posix()
    for commit in _git("log", "--format=%H", "--diff-filter=AM", "--", place).decode().split():
        content = _git("show", f"{commit}:./{place}")
        if exercise.is_start(content):
            return content
    raise KataError(
        f"no commit here holds the start of {exercise.slug} that the catalog knows: "
        f"take {place} from where you got this copy"
    )


def _git(*arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(paths.ROOT), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise KataError(f"git cannot be asked about {paths.ROOT}; reset needs git and a clone") from None
    return done.stdout


def solution(name: str) -> str:
    """A diff from the learner's answer to the reference."""
    exercise = load().find(name)
    slug = exercise.slug
    reference = exercise.file("solutions")
    if not reference.exists():
        raise KataError(f"there is no solution of {slug} here: this copy was released without them")
    if progress.state(exercise) != "done":
        raise KataError(f"{slug} is not solved yet; `kata hint {slug}` helps, `pytest -k {slug}` judges it")
    mine = exercise.file("exercises").read_text("utf-8").splitlines()
    theirs = reference.read_text("utf-8").splitlines()
    lines = list(difflib.unified_diff(mine, theirs, "yours", "reference", lineterm=""))
    return "\n".join(lines) if lines else "yours is the reference, letter for letter"
