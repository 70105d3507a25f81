"""The end of a pytest run: how far each section is, and what to do next."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from grader import paths
from grader.catalog import Catalog, Exercise, load
from grader.progress import State


def lines(states: Mapping[str, State]) -> list[str]:
    """One line per section that was run, and the next exercise."""
    catalog = load()
    told = []
    for section in catalog.sections:
        seen = [states[e.slug] for e in section.exercises if e.slug in states]
        if seen:
            told.append(_section_line(section.name, Counter(seen), len(seen)))
    failing = [e.slug for e in catalog.exercises if states.get(e.slug) == "failing"]
    if failing:
        told += ["", *textwrap.wrap("failing: " + ", ".join(failing), 100, subsequent_indent=" " * 9)]
    unfinished = [e for e in catalog.exercises if states.get(e.slug, "done") != "done"]
    if unfinished:
        # What fails was begun: it comes before what is still to do.
        first = min(unfinished, key=lambda e: states[e.slug] != "failing")
        told += [
            "",
            f"next: {first.slug}   {paths.shown(first.file('exercises'))}   (kata hint {first.slug})",
        ]
    return told


def states_of(reports: Iterable[pytest.TestReport]) -> dict[str, State]:
    """Each exercise that was run, by slug: done if all its checks passed."""
    catalog = load()
    states: dict[str, State] = {}
    for report in reports:
        exercise = _exercise(report, catalog)
        if exercise is None:
            continue
        before = states.get(exercise.slug, "done")
        states[exercise.slug] = _worse(before, _state(report))
    return states


def shorten(reporter: pytest.TerminalReporter) -> None:
    """Say less, where a learner's exercises failed: each mistake once, and no list of failed checks.

    The section at the end names the exercises instead.
    """
    failed = [r for r in reporter.stats.get("failed", []) if getattr(r, "kata", None) == "failed"]
    _tell_once(failed)
    if failed and len(failed) == len(reporter.stats["failed"]):
        reporter.reportchars = ""


def _tell_once(failed: Iterable[pytest.TestReport]) -> None:
    """Let later checks of an exercise that say the same only name the first one."""
    first: dict[tuple[str, str], str] = {}
    for report in failed:
        head, _, body = str(report.longrepr).partition("\n")
        key = (head.split(" · ")[0], _without_values(body))
        if key in first:
            report.longrepr = f"{head}\n  the same as in {first[key]}"
        else:
            first[key] = report.nodeid.split("::")[-1]


def _without_values(body: str) -> str:
    """The feedback but for the line that lists values: they differ with each check's inputs."""
    return "\n".join(line for line in body.splitlines() if not line.startswith("  where  "))


def _exercise(report: pytest.TestReport, catalog: Catalog) -> Exercise | None:
    file = Path(report.nodeid.split("::")[0])
    if file.parts[:2] not in (("tests", "public"), ("tests", "hidden")):
        return None
    return catalog.of_stem(file.stem.removeprefix("test_"))


def _state(report: pytest.TestReport) -> State:
    if getattr(report, "kata", None) == "todo":
        return "todo"
    return "failing" if report.failed else "done"


def _worse(one: State, other: State) -> State:
    order: tuple[State, ...] = ("done", "todo", "failing")
    return max(one, other, key=order.index)


def _section_line(name: str, count: Counter[State], total: int) -> str:
    bar = "█" * round(20 * count["done"] / total)
    parts = [f"{count[state]} {state}" for state in ("done", "failing", "todo") if count[state]]
    return f"{name:<16} {bar:░<20} {count['done']:>2}/{total:<2}  {', '.join(parts)}"
