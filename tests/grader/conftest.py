"""Fixtures that several of these test files use."""

from tests.grader.support.browser import browser, page, visit  # noqa: F401
from tests.grader.support.database import postgres  # noqa: F401
from tests.grader.support.warm_pytest import run_pytest  # noqa: F401
from tests.grader.support.warm_worker import confines, files, worker, workers  # noqa: F401
