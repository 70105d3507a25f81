"""Suites collected once, run many times."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from grader.checks import devices, rng
from grader.core.errors import KataError
from grader.course.exercise import Exercise
from grader.engine import _compat
from grader.plugin import failure_report, plugin, process_state
from grader.plugin.markers import spec_of
from grader.plugin.plugin import Judged, time_limit
from grader.plugin.reports import check_of
from grader.plugin.selection import exercise_of
from grader.protocol.check import CheckSpec, Finding

# `--collect-only` keeps the plugin from starting ranks and devices in the parent.
_ARGUMENTS = (
    "--collect-only",
    "--assert=plain",
    "--capture=no",
    "--answers=.",
    "-pno:cacheprovider",
    "-pno:terminal",
    "-pno:logging",
    "-pno:junitxml",
    "-pno:faulthandler",
    "-pno:unraisableexception",
    "-pno:threadexception",
)


@dataclass(frozen=True)
class SuiteTest:
    """One collected test of one exercise's suites."""

    spec: CheckSpec
    item: pytest.Item
    plain: bool


@dataclass(frozen=True)
class Suites:
    """The checks and modules of every exercise, by slug, and the configurations that they run under.

    `imported` holds the modules once more, and the packages they lie in, as `sys.modules` does; `faults` says
    of an exercise without checks what is wrong with its suites.
    """

    configs: list[pytest.Config] = field(default_factory=list)
    checks: defaultdict[str, list[SuiteTest]] = field(default_factory=lambda: defaultdict(list))
    modules: dict[str, list[ModuleType]] = field(default_factory=dict)
    imported: dict[str, dict[str, ModuleType]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def hide(self) -> None:
        """Take all suites from the modules that everybody can list."""
        for name in {name for names in self.imported.values() for name in names}:
            sys.modules.pop(name, None)

    @contextmanager
    def shown(self, slug: str) -> Iterator[None]:
        """Put the suites of one exercise back for a while: torch may look for the module of a function."""
        back = {name: module for name, module in self.imported[slug].items() if name not in sys.modules}
        sys.modules.update(back)
        try:
            yield
        finally:
            for name in back:
                sys.modules.pop(name, None)


def collect(exercises: Sequence[Exercise]) -> Suites:
    """Import the suites of `exercises` and list their checks; there are none where a suite does not import.

    Raises:
        KataError: something else does not import; its traceback is in the message.
    """
    suites = Suites()
    for root in dict.fromkeys(e.root for e in exercises):
        suites.hide()  # those of another folder have the same packages
        _collect(root, [e for e in exercises if e.root == root], suites)
    return suites


def _collect(root: Path, exercises: Sequence[Exercise], suites: Suites) -> None:
    """Add the suites of the exercises in one folder, with pytest as it is set up there."""
    files = [str(e.file(tree)) for e in exercises for tree in e.suites if e.file(tree).exists()]
    with pytest.MonkeyPatch.context() as patches:
        patches.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        config = _compat.configured([*_ARGUMENTS, f"--rootdir={root}", *files])
    session = _compat.start(config)
    problems: list[pytest.CollectReport] = []
    config.pluginmanager.register(_Problems(problems))
    config.hook.pytest_sessionstart(session=session)
    config.hook.pytest_collection(session=session)
    suites.configs.append(config)
    suites.faults.update(_fault(root, problem) for problem in problems)
    _settle_packages(session.items)
    modules: dict[str, list[ModuleType]] = defaultdict(list)
    for item in session.items:
        exercise = exercise_of(item.path)
        if exercise is not None:
            check = SuiteTest(spec_of(item), item, _is_plain(item))
            if exercise.slug not in suites.faults:
                suites.checks[exercise.slug].append(check)
            suite: ModuleType = item.module  # type: ignore[attr-defined]
            if suite not in modules[exercise.slug]:
                modules[exercise.slug].append(suite)
    for found in modules.values():
        found += _conftests(config, root, found)
    suites.modules.update(modules)
    suites.imported.update({slug: _with_packages(found) for slug, found in modules.items()})


def _conftests(config: pytest.Config, root: Path, suites: Sequence[ModuleType]) -> Iterator[ModuleType]:
    """The modules with the fixtures that these suites share with their neighbours."""
    folders = {folder for suite in suites for folder in Path(str(suite.__file__)).parents}
    for module in config.pluginmanager.get_plugins():
        file = Path(str(getattr(module, "__file__", "")))
        if file.name == "conftest.py" and file.parent != root and file.parent in folders:
            yield module


def _fault(root: Path, report: pytest.CollectReport) -> tuple[str, str]:
    """Which exercise has a suite that does not import, and why."""
    exercise = exercise_of(root / report.nodeid.partition("::")[0])
    if exercise is None:
        raise KataError(f"{report.nodeid}: {report.longrepr}")
    why = str(report.longrepr).strip().splitlines() or [report.outcome]
    return exercise.slug, f"{report.nodeid} does not import: {why[-1].removeprefix('E').strip()}"


def _with_packages(modules: Iterable[ModuleType]) -> dict[str, ModuleType]:
    names = [module.__name__.split(".") for module in modules]
    every = {".".join(parts[:length]) for parts in names for length in range(1, len(parts) + 1)}
    return {name: sys.modules[name] for name in every}


def _settle_packages(items: Sequence[pytest.Item]) -> None:
    """Keep packages from importing their `__init__.py` again in children, where the files are hidden."""
    for package in {node for item in items for node in item.listchain() if isinstance(node, pytest.Package)}:
        package.setup = lambda: None  # type: ignore[method-assign]


class _Problems:
    def __init__(self, found: list[pytest.CollectReport]) -> None:
        self.found = found

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.found.append(report)


def run(checks: Sequence[SuiteTest], judged: Judged) -> Iterator[tuple[SuiteTest, Finding]]:
    """Run the checks in this process, one after the other, and say how each went."""
    # What pytest runs shares fixtures of a wider scope. Plain checks, which come in between, ask for none.
    items = [check.item for check in checks if not (check.spec.lacks or check.plain)]
    following = dict(pairwise(items))
    for check in checks:
        item = check.item
        if check.spec.lacks:
            yield check, Finding("not_graded")
        elif check.plain and isinstance(item, pytest.Function):
            yield check, _run_plain(item, judged)
        else:
            yield check, _of_reports(_compat.run_alone(item, following.get(item)))


_FIXTURES = {
    "answer": plugin.__name__,
    "data": plugin.__name__,
    "gen": plugin.__name__,
    "device": plugin.__name__,
    "monkeypatch": pytest.MonkeyPatch.__module__,
}
"""Those that a plain check may take, and where they are defined: a suite may have its own of the name."""


def _is_plain(item: pytest.Item) -> bool:
    """Whether a check takes nothing but our own fixtures, pytest's monkeypatch and its parameters.

    It is then called directly: pytest's protocol would take longer than the check.
    """
    if not isinstance(item, pytest.Function):
        return False
    parameters = item.callspec.params.keys() if hasattr(item, "callspec") else set()
    indirect = any(mark.kwargs.get("indirect") for mark in item.iter_markers("parametrize"))
    asked = set(_compat.fixtures_of(item)[0]) - parameters
    ours = all(_compat.home_of(name, item) == _FIXTURES.get(name) for name in asked)
    return item.cls is None and not indirect and ours


def _run_plain(item: pytest.Function, judged: Judged) -> Finding:
    exercise = exercise_of(item.path)
    assert exercise is not None
    patches = pytest.MonkeyPatch()
    given: dict[str, Callable[[], object]] = {
        "answer": lambda: judged.module(exercise),
        "data": lambda: exercise.data,
        "gen": lambda: rng.generator(judged.seed, item.nodeid),
        "device": devices.install,
        "monkeypatch": lambda: patches,
    }
    parameters = item.callspec.params if hasattr(item, "callspec") else {}

    def check() -> None:
        arguments = {name: parameters[name] if name in parameters else given[name]() for name in names}
        rng.seed_globals(judged.seed, item.nodeid)
        try:
            with time_limit(item):
                item.obj(**arguments)
        finally:
            patches.undo()

    _, names = _compat.fixtures_of(item)
    with process_state.kept():
        call = pytest.CallInfo.from_call(check, when="call")
    if call.excinfo is None:
        return Finding("passed")
    return failure_report.finding_of(call, item, exercise, judged.answers)


def _of_reports(phases: Sequence[pytest.TestReport]) -> Finding:
    """What was found in the first phase of a check that did not pass, if there is one."""
    found = [check.finding for report in phases if (check := check_of(report))]
    return next((finding for finding in found if finding.outcome != "passed"), Finding("passed"))
