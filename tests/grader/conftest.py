"""Fixtures that several of these test files use, and markers for what a test takes."""

import contextlib
from collections.abc import Iterator

import pytest

from grader.engine import running
from grader.sandbox import ENVIRONMENT
from tests.grader.support import warm_python
from tests.grader.support.browser import browser, page, visit  # noqa: F401
from tests.grader.support.database import postgres  # noqa: F401
from tests.grader.support.warm_pytest import run_pytest  # noqa: F401
from tests.grader.support.warm_worker import confines, files, worker, workers  # noqa: F401

NEEDS = {
    "sandbox": ("confines", "needs bubblewrap"),
    "browser": ("browser", "needs Chromium"),
    "database": ("postgres", "needs PostgreSQL"),
}
"""Which fixture a test takes that is marked so: `make check` runs what is neither, nor `slow`."""


def pytest_configure(config: pytest.Config) -> None:
    for name, (_, meaning) in NEEDS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        taken = getattr(item, "fixturenames", ())
        for name, (fixture, _) in NEEDS.items():
            if fixture in taken:
                item.add_marker(name)


@pytest.fixture(scope="session")
def origin() -> Iterator[warm_python.Start]:
    """What `warm` forks from; it is started when it is first asked for."""
    with contextlib.closing(warm_python.Start(ENVIRONMENT, running._ENGINE)) as start:
        yield start


@pytest.fixture(scope="module")
def warm(origin: warm_python.Start) -> Iterator[None]:
    """What a module's tests start is forked from a process with torch: for `usefixtures` in its marks."""
    with warm_python.warm(origin):
        yield
