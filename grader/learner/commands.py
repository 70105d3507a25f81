"""The verbs of a learner: `hint`, `reset`, `solution`, `path`."""

import difflib
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from grader.core.errors import KataError
from grader.core.packed import unpacked, written
from grader.course import paths, project, specimens, starts, variant
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.specimen import Works
from grader.course.statement import code_alone
from grader.protocol.statuses import SETTLED
from grader.records import capstones, progress, route

BACKUPS = paths.STATE / "backups"


def hint(name: str, reveal: str = "") -> str:
    """The next hint, and how many there are; after the last one all of them, and how the solution is had.

    Args:
        name: the exercise.
        reveal: what is to be typed for it, where that is not `kata solution`.
    """
    exercise = load().find(name)
    slug, (key, hints) = exercise.slug, hints_of(exercise)
    count = len(hints)
    if not hints:
        raise KataError(f"{slug} has no hints; its statement is in {paths.shown(exercise.file('exercises'))}")
    given = progress.next_hint(key, count)
    if given is not None:
        last = " (the last one)" if given + 1 == count else ""
        return f"hint {given + 1}/{count}{last}  {hints[given]}"
    told = [f"hint {number}/{count}  {text}" for number, text in enumerate(hints, start=1)]
    told.append("there are no more hints")
    if exercise.file("solutions").exists() and may_reveal(exercise):
        how = reveal or f"`kata solution {slug} --reveal`"
        told[-1] += f": {how} shows the solution, and `kata status` will say so"
    return "\n".join(told)


def hints_of(exercise: Exercise) -> tuple[str, tuple[str, ...]]:
    """What is to be said, and under which key it is counted: of a capstone, of the bug that somebody sees."""
    bug = _bug_seen(capstones.mine(exercise)) if exercise.is_capstone else ""
    if bug:
        return f"{exercise.slug}{progress.BUG}{bug}", exercise.pool.hints_for(bug)
    return exercise.slug, exercise.hints


def _bug_seen(capstone: Exercise) -> str:
    """The first bug of the variant whose symptom was last shown; "" where none was, or nobody can tell."""
    failed, names = capstones.of(capstone.slug).failed, variant.chosen(capstone, capstone.variant)
    if failed is None:
        return names[0]
    try:
        bugs = variant.bugs(capstone)
    except KataError:
        return ""
    return next((name for name in names if name in bugs and bugs[name].check in failed), "")


def reset(name: str) -> str:
    """Put the start back and keep what was there; where it is kept, for printing."""
    exercise = capstones.mine(load().find(name))
    shown = paths.shown(exercise.place("exercises"))
    if starts.is_untouched(exercise):
        return f"{shown} is at its start already"
    kept = put_back(exercise)
    return f"{shown} is back at its start" + (f"; your version is in {paths.shown(kept)}" if kept else "")


def put_back(exercise: Exercise, before: Exercise | None = None) -> Path | None:
    """Write the start of an exercise; where what was there is kept, if there was anything else.

    Args:
        exercise: the exercise, or a variant of it.
        before: the variant that lies there, where that is another one.
    """
    place, start = exercise.place("exercises"), starts.content(exercise)
    is_there = place.exists() and not starts.is_untouched(before or exercise)
    kept = _keep(exercise, place) if is_there else None
    place.parent.mkdir(parents=True, exist_ok=True)
    if exercise.is_project:
        written(unpacked(start), place)
    else:
        place.write_bytes(start)
    progress.forget(exercise.slug)
    if exercise.is_capstone:
        capstones.lay(exercise)
    return kept


def _keep(exercise: Exercise, place: Path) -> Path:
    """Where what is there is kept; of a project the files of the answer are moved, so that none is left."""
    BACKUPS.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = BACKUPS / f"{exercise.slug}-{stamp}{place.suffix}"
    number = 1
    while kept.exists():
        number += 1
        kept = BACKUPS / f"{exercise.slug}-{stamp}-{number}{place.suffix}"
    if not exercise.is_project:
        kept.write_bytes(place.read_bytes())
        return kept
    kept.mkdir()
    for entry in place.iterdir():
        if entry.name != project.DATA:
            shutil.move(entry, kept / entry.name)
    return kept


def may_reveal(exercise: Exercise) -> bool:
    """Whether the solution of what is not solved may be had now, and was not yet: all hints were given."""
    is_open = _is_settled(exercise) or exercise.slug in progress.revealed()
    key, hints = hints_of(exercise)
    return not is_open and not progress.hints_left(key, len(hints))


def _is_settled(exercise: Exercise) -> bool:
    return progress.states(load())[exercise.slug] in SETTLED


def solution(name: str, reveal: bool = False) -> str:
    """A diff of code: from the learner's answer to the reference, and from a plain one that does the job.

    Args:
        name: the exercise.
        reveal: show it although the exercise is not solved, once all hints were given, and note that.
    """
    exercise = load().find(name)
    slug = exercise.slug
    reference = exercise.file("solutions")
    if not reference.exists():
        raise KataError(f"there is no solution of {slug} here: this copy was released without them")
    if may_reveal(exercise):
        if not reveal:
            raise KataError(
                f"{slug} is not solved yet; there are no more hints, so `kata solution {slug} --reveal` "
                "shows it all the same, and `kata status` will say so"
            )
        progress.reveal(slug)
    elif not _is_settled(exercise) and slug not in progress.revealed():
        raise KataError(
            f"{slug} is not solved yet; `kata hint {slug}` helps, `pytest -k {slug}` judges it. After the "
            "last hint the solution can be revealed"
        )
    mine = exercise.content("exercises") if exercise.file("exercises").exists() else None
    return compared(exercise, mine, exercise.content("solutions"))


def compared(exercise: Exercise, mine: bytes | None, reference: bytes) -> str:
    """The diff from one answer to another, and what the fine print adds."""
    yours, theirs = [] if mine is None else _lines(exercise, mine), _lines(exercise, reference)
    lines = list(difflib.unified_diff(yours, theirs, "yours", "reference", lineterm=""))
    return "\n".join([*(lines or ["yours is the reference, line for line"]), *_plain(exercise, theirs)])


def _lines(exercise: Exercise, answer: bytes) -> list[str]:
    """The lines of code: what is said about them in docstrings would hide what differs."""
    return code_alone(exercise.text(answer)).splitlines()


def _plain(exercise: Exercise, reference: Sequence[str]) -> list[str]:
    """What the fine print adds to a plain answer, where specimens are at hand."""
    file = exercise.file("specimens")
    known = specimens.read(file) if file.exists() else []
    plain = next((one for one in known if isinstance(one, Works)), None)
    if plain is None:
        return []
    source = _lines(exercise, plain.content(exercise))
    head = f"what the fine print adds to a plain answer, which does the job ({plain.about}):"
    return ["", head, *difflib.unified_diff(source, reference, "plain", "reference", lineterm="")]


def path(name: str = "", section: str = "") -> str:
    """Choose a path, or say which one it is; and what comes next on it."""
    catalog = load()
    seen = progress.states(catalog)
    way = progress.path_of(catalog, seen)
    if name:
        here = progress.following(catalog, seen, path=way) or catalog.exercises[0]
        way = route.named(catalog, name, section, here)
        progress.choose(way)
    following = progress.following(catalog, seen, path=way)
    place = paths.shown(following.file("exercises")) if following else ""
    after = f"next: {place}" if following else progress.end_of(catalog, seen, way)
    others = "others: " + ", ".join(f"`kata path {name}`" for name in route.WAYS if name != way.name)
    return f"path {way}\n{after}\n{others}"
