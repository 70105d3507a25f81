"""Checks that need a GPU run in a pytest process of their own, where other checks are chosen too.

A process that has talked to CUDA's driver cannot fork children that step an optimizer, and one that has
installed the simulated device cannot run a backward on CUDA. So CUDA is hidden from the process that
judges the rest.

This module is both ends: the plugin of the process that asks, and of the one that it starts, which
writes its reports down. That one is started once, with the first such check, and runs all of them.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

from grader.plugin.markers import lacking, needs_gpu
from grader.plugin.subprocess_run import read_lines, run_quietly, write_line
from grader.sandbox.bubblewrap import NO_GPU

START, SECONDS = 60.0, 60.0
"""Granted for starting Python, torch and CUDA, and for each check: its own limit comes long before."""

_REPORTS = "KATA_REPORTS"

Reports = dict[str, list[pytest.TestReport]]
"""What the other process reports, by the check's id."""

_ITEMS = pytest.StashKey[list[pytest.Item]]()
_ENVIRONMENT = pytest.StashKey[dict[str, str]]()
_TOLD = pytest.StashKey[Reports]()


def part(items: list[pytest.Item]) -> None:
    """Hide CUDA from this process, where any of its checks can do without, and set the others aside."""
    if all(needs_gpu(item) for item in items):
        return
    if apart := [item for item in items if needs_gpu(item) and not lacking(item)]:
        stash = apart[0].config.stash
        stash[_ITEMS], stash[_ENVIRONMENT] = apart, dict(os.environ)
    os.environ.update(NO_GPU)


def is_apart(item: pytest.Item) -> bool:
    """Whether this check is run in the other process."""
    return item in item.config.stash.get(_ITEMS, [])


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    stash = item.config.stash
    if is_apart(item) and _TOLD not in stash:  # here no limit runs that is meant for one check
        stash[_TOLD] = _run(item.config)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return True if is_apart(pyfuncitem) else None  # it was run there


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell what became of a check in the other process, as if it had been run here."""
    report = yield
    if call.when != "call" or not is_apart(item):
        return report
    told = item.config.stash[_TOLD][item.nodeid]
    theirs = next((r for r in told if not r.passed or r.when == "call"), None) or _lost(item)
    theirs.when = "call"  # there, what is skipped ends before
    return theirs


def _run(config: pytest.Config) -> Reports:
    """What a pytest process that sees the GPUs reports of the checks that need one."""
    items = config.stash[_ITEMS]
    argv = [f"--answers={config.getoption('--answers')}", f"--seed={config.getoption('--seed')}"]
    argv += [f"--rootdir={config.rootpath}", *(str(config.rootpath / item.nodeid) for item in items)]
    reports: Reports = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        file = Path(folder, "reports.jsonl")
        environment = {**config.stash[_ENVIRONMENT], _REPORTS: str(file), "PYTEST_ADDOPTS": ""}
        run_quietly(argv, environment, START + SECONDS * len(items))  # what it does not come to is lost
        for line in read_lines(file):
            report = config.hook.pytest_report_from_serializable(config=config, data=line)
            reports[report.nodeid].append(report)
    return reports


def _lost(item: pytest.Item) -> pytest.TestReport:
    told = "the process that judges on the GPU ended before this check did; run pytest -m gpu to see it"
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")


class _Writer:
    """The plugin of the process that is asked: writes each report as a line of JSON."""

    def __init__(self, config: pytest.Config, file: Path) -> None:
        self._config = config
        self._file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        write_line(self._file, data)


def pytest_configure(config: pytest.Config) -> None:
    if file := os.environ.pop(_REPORTS, None):
        config.pluginmanager.register(_Writer(config, Path(file)))
