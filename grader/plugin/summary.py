"""The end of a pytest run: how far each section is, and what to do next."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.course import missing, paths
from grader.course.catalog import Catalog, load
from grader.course.exercise import Exercise
from grader.plugin import leftovers
from grader.plugin.failures import shorten
from grader.plugin.plugin import JUDGED
from grader.plugin.reports import check_of
from grader.plugin.selection import exercise_of
from grader.protocol.check import Outcome, function, held
from grader.protocol.standing import NOTHING_RAN, Standing
from grader.protocol.statuses import SETTLED, SOLVED, STATES, STATUSES, State
from grader.records import capstones, practice, progress
from grader.records.counts import by_kind, counting

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
    if reporter is None:
        return (yield)
    reports = [r for rs in reporter.stats.values() for r in rs if isinstance(r, pytest.TestReport)]
    standings, whole = standings_of(reports), _judged_whole(reports, session)
    does_job = {
        slug: found.words(load().exercise(slug))
        for slug, found in standings.items()
        if found.state == "works" and slug in whole
    }
    states: dict[str, State] = {s: r.state if r != NOTHING_RAN else "done" for s, r in standings.items()}
    session.config.stash[_FAILED] = shorten(reporter, does_job.keys(), _steps_before(states))
    _hush(reporter)
    result = yield
    if standings:
        is_own = session.config.stash[JUDGED].answers.root == paths.EXERCISES
        if is_own:
            # A part of the checks proves nothing but that the job is not done.
            begun = {slug for slug, found in standings.items() if found.job and states[slug] not in SETTLED}
            seen = {s: state for s, state in states.items() if s in whole | begun}
            _remember(seen)
            _remember_symptoms({s: state for s, state in seen.items() if s in whole}, reports)
        told = [*lines(states, half_written(reports, standings)), *leftovers.lines(reports)]
        if is_own:
            told += filter(None, (missing.renamed(load().exercise(slug)) for slug in states))
            told += [f"{why}; `kata` judges all answers anew" for why in [progress.lost()] if why]
        _summarise(reporter, told, does_job)
    return result


def _steps_before(states: Mapping[str, State]) -> dict[str, Exercise]:
    """By what fails, the step that it builds on and that is not done yet."""
    failing = [slug for slug, state in states.items() if state == "failing"]
    if not failing:
        return {}
    catalog = load()
    seen = progress.states(catalog, states)
    found = {slug: progress.step_before(catalog, catalog.exercise(slug), seen) for slug in failing}
    return {slug: step for slug, step in found.items() if step}


def _hush(reporter: pytest.TerminalReporter) -> None:
    """Leave out what libraries warn of while answers are judged, unless `-v` asks for it."""
    if reporter.config.option.verbose <= 0 and (warned := reporter.stats.get("warnings")):
        catalog = load()
        reporter.stats["warnings"] = [w for w in warned if not _exercise(w, catalog)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The failures have been told: let all of them count."""
    if failed := config.stash.get(_FAILED, []):
        terminalreporter.stats["failed"] = failed


def _remember(states: Mapping[str, State]) -> None:
    catalog = load()
    seen = {catalog.exercise(slug): state for slug, state in states.items()}
    # a start may fail, but it was not begun
    seen |= {e: "todo" for e in seen if capstones.is_untouched(e)}
    practice.note(progress.remember(seen))


def _remember_symptoms(states: Mapping[str, State], reports: Iterable[pytest.TestReport]) -> None:
    """Of each capstone that was judged whole, which checks fail, and which pass on all inputs."""
    failed = defaultdict[str, list[str]](list)
    went = defaultdict[str, list[tuple[str, Outcome]]](list)
    for report in reports:
        if check := check_of(report):
            name, outcome = function(report.nodeid), check.finding.outcome
            went[check.slug].append((name, outcome))
            if outcome in ("failed", "timeout"):
                failed[check.slug].append(name)
    for slug, state in states.items():
        capstones.saw(load().exercise(slug), failed[slug], held(went[slug]), is_solved=state in SOLVED)


def _summarise(reporter: pytest.TerminalReporter, lines: Sequence[str], does_job: Mapping[str, str]) -> None:
    reporter.section("torchkata")
    for slug, words in does_job.items():
        reporter.write_line(f"{STATUSES['works'].mark} {slug}: {words}", green=True)
    for line in lines:
        reporter.write_line(line)


def _judged_whole(reports: Iterable[pytest.TestReport], session: pytest.Session) -> set[str]:
    """The slugs of the exercises of which every check was run: passing a part of them proves nothing."""
    config = session.config
    is_distributed = bool(getattr(config.option, "numprocesses", None))
    picked = config.option.keyword or config.option.markexpr or getattr(config.option, "lf", False)
    if any("::" in argument for argument in config.args) or session.shouldfail or session.shouldstop:
        return set()
    if is_distributed and picked:  # only the workers know what was left out
        return set()
    catalog = load()
    seen = {config.rootpath / report.nodeid.split("::")[0] for report in reports}
    return {
        e.slug
        for e in catalog.exercises
        if e not in config.stash.get(_DROPPED, set())
        and {e.file(t) for t in e.suites if e.file(t).exists()} <= seen
    }


def half_written(reports: Iterable[pytest.TestReport], standings: Mapping[str, Standing]) -> list[str]:
    """Of each exercise that is partly written: how much passes, and which functions are missing."""
    unwritten: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for report in reports:
        if (check := check_of(report)) and (name := check.finding.unwritten):
            unwritten[check.slug][name] = None
    checks = {slug: (*standings[slug].job, *standings[slug].fine) for slug in unwritten}
    return [
        f"{slug}: {checks[slug].count('passed')} of {len(checks[slug])} checks pass; "
        f"still to write: {', '.join(names)}"
        for slug, names in unwritten.items()
        if "passed" in checks[slug]
    ]


def lines(states: Mapping[str, State], half: Sequence[str] = ()) -> list[str]:
    """One line per section that was run, what is half written, and the next exercise."""
    catalog = load()
    known = progress.states(catalog, states)
    path = progress.path_of(catalog, known)
    run = [e for e in path.order(catalog) if e.slug in states]
    # What is not on the path counts where somebody began some of it, or asked for nothing else.
    begun = {e.folder for e in run if path.holds(e) or known[e.slug] not in ("todo", "known")}
    counts = counting(e for e in run if e.folder in begun or not begun)
    told = []
    for section in catalog.sections:
        if here := [e for e in counts if e.section == section.name]:
            told.append(_section_line(section.name, here, known))
    failing = [e for e in run if known[e.slug] == "failing"]
    if failing:
        names = "failing: " + ", ".join(e.slug for e in failing)
        told += ["", *textwrap.wrap(names, 100, subsequent_indent=" " * 9)]
    told += ["", *half] if half else []
    # What fails was begun: it comes before what is still to do, and this run before what others saw.
    first = next((e for e in (*failing, *counts) if known[e.slug] not in SETTLED), None)
    first = first or progress.following(catalog, known, path=path)
    if first is not None:
        file = paths.shown(first.file("exercises"))
        told += ["", f"next: {first.slug}   {file}   (kata hint {first.slug})"]
    return told


def standings_of(reports: Iterable[pytest.TestReport]) -> dict[str, Standing]:
    """How the checks of each exercise went that was run, by slug."""
    catalog = load()
    found: defaultdict[str, dict[str, tuple[bool, Outcome]]] = defaultdict(dict)  # by slug and check
    for report in reports:
        if exercise := _exercise(report, catalog):
            _, before = found[exercise.slug].get(report.nodeid, (False, "passed"))
            check = check_of(report)
            outcome = check.finding.outcome if check else "failed" if report.failed else "passed"
            worst = max(before, outcome, key=_ORDER.index)
            found[exercise.slug][report.nodeid] = check is not None and check.fine, worst
    return {slug: Standing.of(checks.values()) for slug, checks in found.items()}


_ORDER: tuple[Outcome, ...] = ("passed", "not_graded", "todo", "failed", "timeout")


def _exercise(report: Any, catalog: Catalog) -> Exercise | None:
    """The exercise that a report, or a warning, is about."""
    file = Path((report.nodeid or "").split("::")[0])
    if file.parts[:2] not in (("tests", "public"), ("tests", "hidden")):
        return None
    return catalog.of_stem(file.stem.removeprefix("test_"))


def _section_line(name: str, here: Sequence[Exercise], known: Mapping[str, State]) -> str:
    """The exercises of a section, and how many of its steps; these alone where no exercise was run."""
    counts = by_kind(here, known)
    kind = next(reversed(counts))
    states = Counter(known[e.slug] for e in here if e.is_step == (kind == "steps"))
    settled = sum(states[state] for state in SETTLED)
    done, works = (round(20 * n / states.total()) for n in (settled - states["works"], settled))
    bar = f"{'█' * done:▒<{works}}"
    parts = ", ".join(f"{states[state]} {state}" for state in STATES if states[state])
    more = "   (steps)" if kind == "steps" else f"   steps {counts['steps']}" if "steps" in counts else ""
    return f"{name:<16} {bar:░<20} {counts[kind]:>5}   {parts}{more}"
