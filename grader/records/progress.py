"""How far a learner is. A cache of what pytest and `kata watch` last saw: the tests are the truth.

Each state is kept with a digest of the file that was judged. Once the file is another one, by whatever
editor or git command, the state says nothing any more and the exercise is to do again.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader.course import paths
from grader.course.catalog import Catalog, Exercise, Section, load
from grader.records.records import read_json, write_json
from grader.records.rungs import LEGEND, MARKS, SETTLED, State

if TYPE_CHECKING:  # pytest, which only remembers, need not wait for rich
    from rich.console import Console
    from rich.table import Table

HIDDEN = "hidden checks grade too: ✓ says that those pass that are here"
_FILE = paths.STATE / "progress.json"


def _read() -> dict[str, Any]:
    """The cache: states, how many hints were given, which solutions were revealed; damaged parts are none."""
    data = read_json(_FILE)
    parts = data if isinstance(data, dict) else {}
    names = ("states", "hints", "revealed")
    return {name: part if isinstance(part := parts.get(name), dict) else {} for name in names}


def _digest(exercise: Exercise) -> str:
    try:
        return hashlib.sha256(exercise.file("exercises").read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def states(catalog: Catalog) -> dict[str, State]:
    """What was last seen of every exercise, by slug."""
    seen = _read()["states"]
    return {e.slug: _state(e, seen.get(e.slug)) for e in catalog.exercises}


def _state(exercise: Exercise, seen: Any) -> State:
    for state in MARKS:
        if seen == [state, _digest(exercise)]:
            return state
    return "todo"


def state(exercise: Exercise) -> State:
    """What was last seen of one exercise."""
    return _state(exercise, _read()["states"].get(exercise.slug))


def remember(seen: Mapping[Exercise, State]) -> None:
    """Note what was just seen of the files as they are."""
    data = _read()
    data["states"].update({e.slug: (state, _digest(e)) for e, state in seen.items()})
    write_json(_FILE, data)


def forget(slug: str) -> None:
    """An exercise starts over: its state and its hints. Who has seen the solution has seen it."""
    data = _read()
    for name in ("states", "hints"):
        data[name].pop(slug, None)
    write_json(_FILE, data)


def hints_left(slug: str, count: int) -> int:
    """How many of so many hints were not given yet."""
    given = _read()["hints"].get(slug, 0)
    return count - min(max(given, 0), count) if isinstance(given, int) else count


def next_hint(slug: str, count: int) -> int | None:
    """Which hint comes next, from 0; asking again moves on, until there is no other."""
    left = hints_left(slug, count)
    if not left:
        return None
    data = _read()
    data["hints"][slug] = count - left + 1
    write_json(_FILE, data)
    return count - left


def reveal(slug: str) -> None:
    """Note that the solution was shown although the exercise was not solved."""
    data = _read()
    data["revealed"][slug] = True
    write_json(_FILE, data)


def revealed() -> frozenset[str]:
    """The exercises whose solution was shown before they were solved, by slug."""
    return frozenset(_read()["revealed"])


def show(out: "Console") -> None:
    """The map of all sections, and where to go on."""
    catalog = load()
    seen = states(catalog)
    out.print(course(catalog, seen))
    legend = LEGEND
    if any(e.path == "further" for e in catalog.exercises):
        legend += "     core | further"
    out.print(legend, style="dim", markup=False)
    if shown := [e.slug for e in catalog.exercises if e.slug in revealed()]:
        out.print(f"solution revealed: {', '.join(shown)}", style="dim", markup=False)
    if paths.is_release():
        out.print(HIDDEN, style="dim", markup=False)
    first = following(catalog, seen)
    if first is None:
        out.print(end_of(seen), markup=False)
        return
    file = paths.shown(first.file("exercises"))
    out.print(f"next: {first.slug}   {file}   (kata hint {first.slug})", markup=False)


def data() -> dict[str, Any]:
    """The map for scripts: every section and exercise with its state, and where to go on."""
    catalog = load()
    seen, shown = states(catalog), revealed()
    sections = [
        {
            "name": section.name,
            "title": section.title,
            "exercises": [
                {"slug": e.slug, "title": e.title, "path": e.path, "file": paths.shown(e.file("exercises"))}
                | {"state": seen[e.slug], "revealed": e.slug in shown}
                for e in section.exercises
            ],
        }
        for section in catalog.sections
    ]
    first = following(catalog, seen)
    return {"sections": sections, "next": first and first.slug}


def course(catalog: Catalog, seen: Mapping[str, State]) -> "Table":
    """The map: a row for each section, a mark for each of its exercises."""
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for section in catalog.sections:
        count = counted(section.exercises, seen) if section.exercises else ""
        table.add_row(section.name, section.title, count, _marks(section, seen) or "to come")
    return table


def counted(exercises: Sequence[Exercise], seen: Mapping[str, State]) -> str:
    """How many work, and how many of these are done where not all are: "5/20, 3 done"."""
    states = [seen.get(e.slug) for e in exercises]
    done, works = states.count("done"), states.count("works")
    return f"{done + works}/{len(states)}{f', {done} done' if works else ''}"


def following(
    catalog: Catalog, seen: Mapping[str, State], after: Exercise | None = None, *, fine: bool = False
) -> Exercise | None:
    """The next exercise after this one, and then from the front, that neither works nor is done.

    Args:
        fine: go through those that work and are not done.
    """
    everything = catalog.exercises
    place = everything.index(after) + 1 if after else 0
    rest = (*everything[place:], *everything[:place])
    return next((e for e in rest if (seen[e.slug] == "works" if fine else seen[e.slug] not in SETTLED)), None)


def end_of(seen: Mapping[str, State], *, fine: bool = False) -> str:
    """What is said when no exercise follows."""
    if fine:
        return "no fine print is left of what works"
    if "works" in seen.values():
        return "everything does its job; `kata watch --fine` goes through the fine print that is left"
    return "everything is done"


def _marks(section: Section, seen: Mapping[str, State]) -> str:
    parts = [
        "".join(MARKS[seen.get(e.slug, "todo")] for e in section.exercises if e.path == path)
        for path in ("core", "further")
    ]
    return " | ".join(part for part in parts if part)
