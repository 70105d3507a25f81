"""The plugin that asks the oracle in a fresh pytest process, before its checks run.

Where there is no fork there is no sandbox either, so that it is not kept apart from the suites.
"""

import pytest

from grader.checks.error_words import error_line
from grader.core.timeout import within
from grader.engine import oracle
from grader.plugin import failure_report, markers, plugin, process_state
from grader.plugin.load_answer import DoesNotImport
from grader.plugin.selection import exercise_of
from grader.plugin.subprocess_run import tell


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Tell what the oracle gives for the answer; nothing where none of its checks runs here."""
    here = [item for item in session.items if not markers.lacking(item)]
    exercise = exercise_of(here[0].path) if here else None
    if exercise is None:
        return
    judged = session.config.stash[plugin.JUDGED]
    limit = markers.seconds_for(here, exercise.seconds)
    try:
        apart = oracle.apart(*map(exercise.file, exercise.suites))
        with process_state.kept(), within(limit):
            answer = judged.module(exercise)
        oracle.ask(apart, answer, exercise.slug, judged.seed, limit, tell)
    except DoesNotImport as broken:
        trouble = failure_report.import_trouble(broken.cause, judged.answers.path(exercise))
        tell(broken=True, feedback=trouble.to_json())
    except Exception as error:
        tell(oracle_error=error_line(error))
