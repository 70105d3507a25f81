"""How far a learner is. A cache of what pytest and `kata watch` last saw: the tests are the truth."""

from collections.abc import Mapping
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from grader import paths
from grader.catalog import Section, load
from grader.results import read_json, write_json

State = Literal["done", "failing", "todo"]
MARKS: dict[State, str] = {"done": "✓", "failing": "✗", "todo": "·"}
_FILE = paths.STATE / "progress.json"


def _read() -> dict[str, Any]:
    data = read_json(_FILE)
    return data if isinstance(data, dict) else {}


def state(slug: str) -> State:
    """What was last seen of an exercise."""
    found = _read().get("states", {}).get(slug, "todo")
    return found if found in MARKS else "todo"


def remember(states: Mapping[str, State]) -> None:
    """Note what was just seen."""
    data = _read()
    data["states"] = {**data.get("states", {}), **states}
    write_json(_FILE, data)


def forget(slug: str) -> None:
    """An exercise starts over: its state and its hints."""
    data = _read()
    for part in ("states", "hints"):
        data.get(part, {}).pop(slug, None)
    write_json(_FILE, data)


def next_hint(slug: str, count: int) -> int:
    """Which hint comes next, from 0; asking again moves on."""
    data = _read()
    hints = data.setdefault("hints", {})
    given = int(hints.get(slug, 0)) % count
    hints[slug] = given + 1
    write_json(_FILE, data)
    return given


def show(out: Console) -> None:
    """The map of all sections, and where to go on."""
    catalog = load()
    states: dict[str, State] = {e.slug: state(e.slug) for e in catalog.exercises}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for section in catalog.sections:
        done = sum(states[e.slug] == "done" for e in section.exercises)
        table.add_row(
            section.name, section.title, f"{done}/{len(section.exercises)}", _marks(section, states)
        )
    out.print(table)
    following = next((e for e in catalog.exercises if states[e.slug] != "done"), None)
    if following is None:
        out.print("everything is done", markup=False)
        return
    file = paths.shown(following.file("exercises"))
    out.print(f"next: {following.slug}   {file}   (kata hint {following.slug})", markup=False)


def _marks(section: Section, states: Mapping[str, State]) -> str:
    parts = [
        "".join(MARKS[states[e.slug]] for e in section.exercises if e.path == path)
        for path in ("core", "further")
    ]
    return " | ".join(part for part in parts if part)
