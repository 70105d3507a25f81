"""Fixtures that several of these test files use, and markers for what a test takes."""

import pytest

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
