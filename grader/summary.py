"""The end of a pytest run: how far each section is, and what to do next."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from grader import leftovers, paths, progress
from grader.catalog import Catalog, Exercise, Tree, load
from grader.plugin import JUDGED
from grader.progress import State
from grader.selection import exercise_of

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
    result = yield
    if reporter is not None:
        _summarise(reporter, session)
    return result


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
        progress.remember({e: state for e, state in seen.items() if state != "done" or e in whole})
    reporter.section("torchkata")
    for line in [*lines(states), *leftovers.told(reports)]:
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


def shorten(reporter: pytest.TerminalReporter) -> list[pytest.TestReport]:
    """Say less, where a learner's exercises failed: each mistake once, and no list of failed checks.

    Where several exercises failed, only the first failure of each is told, unless `-v` or `--tb` asks for
    more: an untouched clone would else be a wall of text. The section at the end names the exercises.

    Returns:
        All that failed, which are to be counted again once the failures are told.
    """
    everything = reporter.stats.get("failed", [])
    failed = [r for r in everything if getattr(r, "kata", None) == "failed"]
    _tell_once(failed)
    if failed and len(failed) == len(everything):
        reporter.reportchars = ""
        option = reporter.config.option
        if option.tbstyle == "auto" and option.verbose <= 0:
            reporter.stats["failed"] = _first_of_each(failed)
    return everything


def _first_of_each(failed: Sequence[pytest.TestReport]) -> list[pytest.TestReport]:
    """The first failure of each exercise, with how many more it has; all of them where it is only one."""
    of: dict[str, list[pytest.TestReport]] = {}
    for report in failed:
        of.setdefault(str(report.longrepr).split(" · ")[0], []).append(report)
    if len(of) == 1:
        return list(failed)
    for slug, reports in of.items():
        reports.sort(key=lambda report: not getattr(report, "is_rule", False))  # before any wrong number
        if more := len(reports) - 1:
            fail = "check fails" if more == 1 else "checks fail"
            reports[0].longrepr = f"{reports[0].longrepr}\n  {more} more {fail}: pytest -k {slug}"
    return [reports[0] for reports in of.values()]


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
