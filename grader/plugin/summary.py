"""The end of a pytest run: how far each section is, and what to do next."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.course import paths
from grader.course.catalog import Catalog, Exercise, Tree, load
from grader.course.starts import is_untouched
from grader.plugin import leftovers
from grader.plugin.failures import shorten
from grader.plugin.plugin import JUDGED
from grader.plugin.selection import exercise_of
from grader.records import progress
from grader.records.rungs import State

_FAILED = pytest.StashKey[list[pytest.TestReport]]()
_DROPPED = pytest.StashKey[set[Exercise]]()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if exercise := exercise_of(item.path):
            item.config.stash.setdefault(_DROPPED, set()).add(exercise)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Tell each mistake once, and end with the sections and what to do next."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        session.config.stash[_FAILED] = shorten(reporter)
        _hush(reporter)
    result = yield
    if reporter is not None:
        _summarise(reporter, session)
    return result


def _hush(reporter: pytest.TerminalReporter) -> None:
    """Leave out what libraries warn of while answers are judged, unless `-v` asks for it."""
    if reporter.config.option.verbose <= 0 and (warned := reporter.stats.get("warnings")):
        catalog = load()
        reporter.stats["warnings"] = [w for w in warned if not _exercise(w, catalog)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The failures have been told: let all of them count."""
    if failed := config.stash.get(_FAILED, []):
        terminalreporter.stats["failed"] = failed


def _summarise(reporter: pytest.TerminalReporter, session: pytest.Session) -> None:
    reports = [r for rs in reporter.stats.values() for r in rs if isinstance(r, pytest.TestReport)]
    states = states_of(reports)
    if not states:
        return
    if session.config.stash[JUDGED].answers.root == paths.EXERCISES:
        whole = _judged_whole(reports, session)
        catalog = load()
        seen = {catalog.exercise(slug): state for slug, state in states.items()}
        seen |= {e: "todo" for e in seen if is_untouched(e)}  # a start may fail, but it was not begun
        progress.remember({e: state for e, state in seen.items() if state != "done" or e in whole})
    reporter.section("torchkata")
    for line in [*lines(states, half_written(reports)), *leftovers.told(reports)]:
        reporter.write_line(line)


def _judged_whole(reports: Iterable[pytest.TestReport], session: pytest.Session) -> set[Exercise]:
    """The exercises of which every check was run: passing a part of them proves nothing."""
    config = session.config
    is_distributed = bool(getattr(config.option, "numprocesses", None))
    picked = config.option.keyword or config.option.markexpr or getattr(config.option, "lf", False)
    if any("::" in argument for argument in config.args) or session.shouldfail or session.shouldstop:
        return set()
    if is_distributed and picked:  # only the workers know what was left out
        return set()
    catalog = load()
    seen = {Path(report.nodeid.split("::")[0]) for report in reports}
    suites: tuple[Tree, ...] = ("public", "hidden")
    return {
        e
        for e in catalog.exercises
        if e not in config.stash.get(_DROPPED, set())
        and {e.file(t).relative_to(paths.ROOT) for t in suites if e.file(t).exists()} <= seen
    }


def half_written(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Of each exercise that is partly written: how much passes, and which functions are missing."""
    catalog = load()
    passed: defaultdict[str, dict[str, bool]] = defaultdict(dict)  # by slug and check
    unwritten: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for report in reports:
        if exercise := _exercise(report, catalog):
            before = passed[exercise.slug].get(report.nodeid, True)
            passed[exercise.slug][report.nodeid] = before and report.passed
            if name := getattr(report, "unwritten", ""):
                unwritten[exercise.slug][name] = None
    return [
        f"{slug}: {sum(passed[slug].values())} of {len(passed[slug])} checks pass; "
        f"still to write: {', '.join(names)}"
        for slug, names in unwritten.items()
        if any(passed[slug].values())
    ]


def lines(states: Mapping[str, State], half: Sequence[str] = ()) -> list[str]:
    """One line per section that was run, what is half written, and the next exercise."""
    catalog = load()
    told = []
    for section in catalog.sections:
        seen = [states[e.slug] for e in section.exercises if e.slug in states]
        if seen:
            told.append(_section_line(section.name, Counter(seen), len(seen)))
    failing = [e.slug for e in catalog.exercises if states.get(e.slug) == "failing"]
    if failing:
        told += ["", *textwrap.wrap("failing: " + ", ".join(failing), 100, subsequent_indent=" " * 9)]
    told += ["", *half] if half else []
    # What fails was begun: it comes before what is still to do, and this run before what others saw.
    here = [e for e in catalog.exercises if states.get(e.slug, "done") != "done"]
    known = {**progress.states(catalog), **states}
    rest = [e for e in catalog.exercises if known[e.slug] != "done"]
    first = min(here, key=lambda e: states[e.slug] != "failing") if here else next(iter(rest), None)
    if first is not None:
        file = paths.shown(first.file("exercises"))
        told += ["", f"next: {first.slug}   {file}   (kata hint {first.slug})"]
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


def _exercise(report: Any, catalog: Catalog) -> Exercise | None:
    """The exercise that a report, or a warning, is about."""
    file = Path((report.nodeid or "").split("::")[0])
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
