"""How far a learner is. A cache of what pytest and `kata watch` last saw: the tests are the truth.

Each state is kept with a digest of the file that was judged. Once the file is another one, by whatever
editor or git command, the state says nothing any more and the exercise is to do again.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.protocol.statuses import SETTLED, SOLVED, STATES, State
from grader.records import progress_file, route
from grader.records.route import Route


def part(name: str) -> dict[str, Any]:
    """A part of what is kept, as plain data."""
    found: dict[str, Any] = progress_file.read()[name]
    return found


def keep(name: str, rows: Mapping[str, Any]) -> None:
    """Put a part of what is kept in its place."""
    progress_file.write({**progress_file.read(), name: dict(rows)})


def lost() -> str:
    """Why states may be missing that answers would have, were they judged anew; "" where none is."""
    return str(part("anew").get("why", ""))


def lose(why: str) -> None:
    """Note that answers are to be judged anew, and why."""
    keep("anew", {"why": why})


def is_known(exercise: Exercise) -> bool:
    """Whether its file was judged as it is."""
    kept = part("states").get(exercise.slug)
    return isinstance(kept, list) and kept[1:] == [_digest(exercise)]


def found() -> None:
    """All answers have been judged anew."""
    keep("anew", {})


def _digest(exercise: Exercise) -> str:
    try:
        return hashlib.sha256(exercise.content("exercises")).hexdigest()[:16]
    except OSError:
        return ""


def states(catalog: Catalog, now: Mapping[str, State] | None = None) -> dict[str, State]:
    """What was last seen of every exercise, by slug, or is seen just `now`; and which steps are known."""
    kept = progress_file.read()
    seen = {e.slug: _state(e, kept["states"].get(e.slug)) for e in catalog.exercises}
    return with_known(catalog, {**seen, **(now or {})}, kept["placement"])


def with_known(
    catalog: Catalog, seen: Mapping[str, State], offered: Mapping[str, list[str]]
) -> dict[str, State]:
    """What was seen, and which steps are known: whoever does an exercise's job knows the steps it needs.

    So does whoever solved all that was `offered` to test out of a section.
    """
    solved = [e for e in catalog.exercises if seen.get(e.slug) in SOLVED]
    known: dict[str, State] = {step.slug: "known" for step in route.steps_before(catalog, *solved)}
    known |= {step.slug: "known" for step in _tested_out(catalog, {e.slug for e in solved}, offered)}
    open_ = ("todo", "known")
    return {slug: known.get(slug, "todo") if state in open_ else state for slug, state in seen.items()}


def _tested_out(catalog: Catalog, solved: set[str], offered: Mapping[str, list[str]]) -> list[Exercise]:
    """The steps of sections of which all exercises are solved that were offered to test out of it."""
    passed = {section for section, slugs in offered.items() if slugs and solved.issuperset(slugs)}
    return [e for e in catalog.exercises if e.is_step and e.section in passed]


def step_before(catalog: Catalog, exercise: Exercise, seen: Mapping[str, State]) -> Exercise | None:
    """The last step that it needs and that is neither done nor known; an optional one where no other is."""
    left = [e for e in route.steps_before(catalog, exercise) if seen.get(e.slug) not in SETTLED]
    return next((e for e in reversed(left) if not e.optional), left[-1] if left else None)


def _state(exercise: Exercise, seen: Any) -> State:
    for state in STATES:
        if state != "known" and seen == [state, _digest(exercise)]:
            return state
    return "todo"


def state(exercise: Exercise) -> State:
    """What was last seen of one exercise."""
    return _state(exercise, progress_file.read()["states"].get(exercise.slug))


def remember(seen: Mapping[Exercise, State]) -> list[str]:
    """Note what was just seen of the files as they are; the slugs of those that were not solved before."""
    data = progress_file.read()
    before = {
        slug
        for slug, kept in data["states"].items()
        if isinstance(kept, list) and kept[:1] and kept[0] in SOLVED
    }
    data["states"].update({e.slug: (state, _digest(e)) for e, state in seen.items()})
    progress_file.write(data)
    return [e.slug for e, state in seen.items() if state in SOLVED and e.slug not in before]


BUG = ":"
"""Between a capstone's slug and the name of one of its bugs: hints for each are counted apart."""


def forget(slug: str) -> None:
    """An exercise starts over: its state and its hints. Who has seen the solution has seen it."""
    data = progress_file.read()
    for name in ("states", "hints"):
        for key in [key for key in data[name] if key.partition(BUG)[0] == slug]:
            del data[name][key]
    progress_file.write(data)


def hints_left(slug: str, count: int) -> int:
    """How many of so many hints were not given yet."""
    given = progress_file.read()["hints"].get(slug, 0)
    return count - min(max(given, 0), count) if isinstance(given, int) else count


def next_hint(slug: str, count: int) -> int | None:
    """Which hint comes next, from 0; asking again moves on, until there is no other."""
    left = hints_left(slug, count)
    if not left:
        return None
    data = progress_file.read()
    data["hints"][slug] = count - left + 1
    progress_file.write(data)
    return count - left


def reveal(slug: str) -> None:
    """Note that the solution was shown although the exercise was not solved."""
    data = progress_file.read()
    data["revealed"][slug] = True
    progress_file.write(data)


def revealed() -> frozenset[str]:
    """The exercises whose solution was shown before they were solved, by slug."""
    return frozenset(progress_file.read()["revealed"])


def chosen(catalog: Catalog) -> Route | None:
    """The path that somebody has chosen, if anybody has; of a section that is not here any more, none."""
    kept = part("path")
    ways = [Route("first"), Route("core"), *(Route("section", s.name) for s in catalog.sections)]
    return next((way for way in ways if kept == _kept(way)), None)


def stay(exercise: Exercise) -> None:
    """Remember where somebody is, for the next `kata watch`."""
    keep("at", {"slug": exercise.slug})


def place(catalog: Catalog) -> Exercise | None:
    """Where somebody was."""
    slug = part("at").get("slug")
    return next((e for e in catalog.exercises if e.slug == slug), None)


def choose(path: Route) -> None:
    """Remember a path."""
    keep("path", _kept(path))


def _kept(path: Route) -> dict[str, str]:
    return {"name": path.name, "section": path.section}


def path_of(catalog: Catalog, seen: Mapping[str, State]) -> Route:
    """The path that was chosen; of who never was asked, core where exercises alone are solved, else first."""
    solved = [e for e in catalog.exercises if seen.get(e.slug) in SOLVED]
    is_at_home = bool(solved) and not any(e.is_step for e in solved)
    return chosen(catalog) or Route("core" if is_at_home else "first")


def following(
    catalog: Catalog,
    seen: Mapping[str, State],
    after: Exercise | None = None,
    *,
    fine: bool = False,
    path: Route | None = None,
) -> Exercise | None:
    """The next exercise on the path after this one, and then from its front, that is not settled.

    Args:
        fine: go through those that work and are not done, wherever they are.
        path: another path than the learner's.
    """
    path = path or path_of(catalog, seen)
    everything = path.order(catalog)
    place = everything.index(after) + 1 if after else 0
    rest = (*everything[place:], *everything[:place])
    if fine:
        return next((e for e in rest if seen[e.slug] == "works"), None)
    return next((e for e in rest if path.holds(e) and seen[e.slug] not in SETTLED), None)


def end_of(catalog: Catalog, seen: Mapping[str, State], path: Route, *, fine: bool = False) -> str:
    """What is said when no exercise follows."""
    if fine:
        return "no fine print is left of what works"
    if path.only:
        return f"both work, so the steps of {path.section} are known; `kata watch` goes on"
    what = f"everything in {path.section}" if path.section else "everything"
    more = "; `kata path` leads on" if path.section else ""
    if any(seen[e.slug] == "works" for e in path.stretch(catalog)):
        return f"{what} does its job; `kata watch --fine` goes through the fine print that is left{more}"
    return f"{what} is done{more}"
