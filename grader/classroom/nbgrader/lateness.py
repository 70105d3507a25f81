"""Late submissions by nbgrader's own rules: the time of a submission, and what the course's plugin takes off.

nbgrader keeps a time with each submission, compares it with the assignment's due date and the student's
extension, and asks the plugin that `nbgrader_config.py` names for a penalty
(https://nbgrader.readthedocs.io/en/stable/plugins/late-plugin.html). The same is done here. Canvas only marks
what came late, which is entered as one second late.
"""

import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from grader.classroom.nbgrader._compat import checked_penalty
from grader.core.errors import KataError
from grader.records.arrivals import Arrival

_MARK = timedelta(seconds=1)


def enter_time(submission: Any, came: Arrival) -> None:
    """Set the time of one of nbgrader's submitted assignments; where nothing is known, it stays.

    Raises:
        ValueError: the time cannot be read.
    """
    due = submission.assignment.duedate
    if came.time:
        submission.timestamp = _parsed(came.time, submission.assignment.name)
        return
    if came.withdrawn and submission.timestamp == _parsed(came.withdrawn, submission.assignment.name):
        submission.timestamp = None
    is_late = due is not None and submission.timestamp is not None and submission.timestamp > due
    if due is not None and came.late and not is_late:
        submission.timestamp = due + _MARK
    elif is_late and came.late is False and submission.timestamp == due + _MARK:
        submission.timestamp = None  # a time that no mark made stays


def _parsed(time: str, assignment: str) -> datetime:
    from nbgrader.utils import parse_utc

    try:
        found: datetime = parse_utc(time)
        return found
    except (ValueError, OverflowError, TypeError):
        raise ValueError(f"timestamp.txt of {assignment} holds no time: {time[:60]!r}") from None


class Penalties:
    """What nbgrader's `AssignLatePenalties` does, with the configuration of the course around a gradebook."""

    def __init__(self, course: Path) -> None:
        self._course = course
        self._rule: Any = None

    def assign(self, notebook: Any) -> None:
        """Set the penalty of a submitted notebook whose scores have been flushed to the database.

        Raises:
            KataError: the course's configuration or its plugin cannot be loaded.
            ValueError: the plugin failed on this submission.
        """
        submission = notebook.assignment
        late = submission.total_seconds_late if submission.assignment.duedate is not None else 0
        if late <= 0:
            notebook.late_submission_penalty = None
            return
        from sqlalchemy.orm import object_session

        session = object_session(notebook)
        if session is not None:
            session.refresh(notebook)  # its score is a sum that the database makes
        rule = self._rule = self._rule or self._loaded()
        try:
            penalty = rule.plugin_inst.late_submission_penalty(submission.student.id, notebook.score, late)
            penalty = None if penalty is None else checked_penalty(rule, notebook, penalty)
        except Exception as failed:  # the course's own code may raise anything
            raise ValueError(f"the late submission plugin failed: {failed!r}") from None
        notebook.late_submission_penalty = penalty

    def _loaded(self) -> Any:
        from jupyter_core.paths import jupyter_config_path
        from nbgrader.preprocessors import AssignLatePenalties
        from traitlets.config import Application

        # As nbgrader looks for it: the course's folder first, then this one, then Jupyter's.
        folders = [str(self._course), os.getcwd(), *jupyter_config_path()]  # noqa: PTH109 a text like the rest
        course = Application()
        before = list(sys.path)
        sys.path[:0] = folders[:2]
        try:
            course.raise_config_file_errors = True
            course.load_config_file("nbgrader_config", path=folders)
            rule = AssignLatePenalties(config=course.config)
            rule.init_plugin()
        except Exception as broken:  # a configuration is a program
            words = (str(broken).splitlines() or [""])[0]
            raise KataError(
                "late penalties: nbgrader_config.py or its plugin cannot be loaded "
                f"({type(broken).__name__}: {words[:200]}); mend it, or take AssignLatePenalties out of it"
            ) from None
        finally:
            sys.path[:] = before
        return rule
