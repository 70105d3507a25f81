"""Late submissions by nbgrader's own rules: the time of a submission, and what the course's plugin takes off.

nbgrader keeps a time with each submission, compares it with the assignment's due date and the student's
extension, and asks the plugin that `nbgrader_config.py` names for a penalty
(https://nbgrader.readthedocs.io/en/stable/plugins/late-plugin.html). The same is done here: the times come
from nbgrader's `timestamp.txt`; Canvas only marks what came late, which is entered as one second late.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.nbgrader._compat import checked_penalty
from grader.submissions.class_folder import Submission

_MARK = timedelta(seconds=1)


@dataclass(frozen=True)
class Arrival:
    """When a student's work came, by assignment.

    Args:
        times: nbgrader's time stamps, as they stand in `timestamp.txt`.
        late: whether it came after the due date, where only that is known.
    """

    times: Mapping[str, str] = field(default_factory=dict)
    late: Mapping[str, bool] = field(default_factory=dict)


def arrival(submission: Submission, catalog: Catalog) -> Arrival:
    """What a submission tells of its time."""
    if submission.late is None:
        return Arrival(submission.times)
    there = submission.answers.keys() | submission.problems.keys()
    sections = {exercise.assignment for exercise in catalog.exercises if exercise.slug in there}
    return Arrival(submission.times, dict.fromkeys(sections, submission.late))


def enter_time(submission: Any, section: str, came: Arrival) -> None:
    """Set the time of one of nbgrader's submitted assignments; where nothing is known, it stays.

    Raises:
        ValueError: the time cannot be read.
    """
    due = submission.assignment.duedate
    if section in came.times:
        from nbgrader.utils import parse_utc

        try:
            submission.timestamp = parse_utc(came.times[section])
        except (ValueError, OverflowError, TypeError):
            raise ValueError(
                f"timestamp.txt of {section} holds no time: {came.times[section][:60]!r}"
            ) from None
    elif due is not None and section in came.late:
        is_late = submission.timestamp is not None and submission.timestamp > due
        if came.late[section] and not is_late:
            submission.timestamp = due + _MARK
        elif is_late and not came.late[section]:
            submission.timestamp = None


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
