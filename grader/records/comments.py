"""What a student reads beside the score: in nbgrader, in Gradescope, in a notebook."""

from grader.core.sanitize import plain
from grader.records.records import CheckRecord, ExerciseRecord
from grader.records.rungs import Rungs

MAX_CHECKS = 5
MAX_WIDTH = 160


def comment(judged: ExerciseRecord) -> str | None:
    """The checks that did not pass, and why, those of the job first; None where all did.

    All but the first line is indented by four, which nbgrader's feedback shows as it stands:
    it renders comments as Markdown, and a message may quote what an answer made up.
    """
    if judged.status == "passed":
        return None
    ran = [check for check in judged.checks if check.outcome != "not_graded"]
    missed = sorted((check for check in ran if check.outcome != "passed"), key=lambda check: check.fine)
    status = judged.status.replace("_", " ")
    if not ran:
        return status
    told = [f"{status}: {Rungs.of((c.fine, c.outcome) for c in ran).counts} checks passed"]
    for check in missed[:MAX_CHECKS]:
        told += ["", *_lines(check)]
    if len(missed) > MAX_CHECKS:
        told += ["", f"    and {len(missed) - MAX_CHECKS} more that did not pass"]
    return "\n".join(told)


def _lines(check: CheckRecord) -> list[str]:
    title = " ".join(plain(check.title or check.id).split())
    told = check.told.short().lines if check.told else []
    return [f"    {line[:MAX_WIDTH]}".rstrip() for line in [title, *(f"  {line}" for line in told)]]
