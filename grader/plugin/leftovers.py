"""What an answer or a check leaves behind in a pytest run: put back, and who did it is named at the end."""

from collections.abc import Generator, Iterable

import pytest

from grader.plugin import process_state
from grader.plugin.plugin import JUDGED
from grader.plugin.selection import exercise_of

MOST = 10
"""Lines about it."""

_BEFORE = pytest.StashKey[tuple[object, ...]]()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside of what captures the streams
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    item.stash[_BEFORE] = process_state.read()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    try:
        return (yield)
    finally:
        exercise = exercise_of(item.path)
        if exercise and (left := process_state.put_back(item.stash[_BEFORE])):
            item.config.stash[JUDGED].left.append(f"{item.name} of {exercise.slug} left {left}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A check's last report tells: it carries extra attributes across xdist."""
    report = yield
    if call.when == "teardown":
        judged = item.config.stash[JUDGED]
        report.left, judged.left = judged.left, []  # type: ignore[attr-defined]
    return report


def lines(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Who changed settings for all that comes after, where somebody did."""
    left = [line for report in reports for line in getattr(report, "left", ())]
    more = [f"  and {len(left) - MOST} more"] if len(left) > MOST else []
    return ["", "put back:", *(f"  {line}" for line in left[:MOST]), *more] if left else []
