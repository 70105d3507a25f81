"""What fails for everybody outside their code, as a fixture that opens a missing file: a fault of the tests.

Whether it is one, only a whole class tells. A solution that passes a test acquits it.
"""

from collections.abc import Sequence

from grader.classroom.suite.inventory import TestFile
from grader.core.sanitize import one_line
from grader.protocol.feedback import Feedback
from grader.records.records import CheckRecord, ExerciseRecord


def spot(feedback: Feedback) -> str:
    """Which error it was, and where: the same for two who were stopped by the same thing."""
    return one_line(f"{feedback.headline}{f' at {feedback.where.at}' if feedback.where else ''}")


def faults(file: TestFile, judged: Sequence[ExerciseRecord]) -> dict[str, str]:
    """The tests of a file that nobody could pass, and why; `judged` has the verdicts on different hand-ins.

    A fault that is known from an earlier run stays one until somebody passes.
    """
    found = {}
    for check in file.checks:
        checks = [each for record in judged for each in record.checks if each.id == check.id]
        why = _fault(file, checks, file.suspects.get(check.id, "")) or file.faults.get(check.id, "")
        if why and not check.lacks and not any(each.outcome == "passed" for each in checks):
            found[check.id] = why
    return found


def _fault(file: TestFile, checks: Sequence[CheckRecord], suspect: str) -> str:
    """Why nobody could pass a test, if that is so: all who came so far were stopped at one spot.

    One hand-in may have brought that about itself, unless `suspect` says that it has to be so.
    """
    failed = [check.feedback for check in checks if check.outcome == "failed" and check.feedback]
    stopped = [told for told in failed if told.kind == "outside" or spot(told) == suspect]
    spots = {spot(told) for told in stopped}
    if len(spots) != 1 or (len(stopped) == 1 and suspect not in spots):
        return ""
    if any(_is_beyond(told, stopped[0], file.path) for told in failed if told not in stopped):
        return ""
    return f"fails for everybody outside their code ({spots.pop()})"


def _is_beyond(feedback: Feedback, stop: Feedback, path: str) -> bool:
    """Whether somebody came past the line of a test, or the fixture, at which others were stopped."""
    if feedback.where is None or stop.where is None or feedback.where.file != path:
        return False
    return stop.where.file != path or feedback.where.line > stop.where.line
