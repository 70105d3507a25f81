"""What a student reads beside the score: in nbgrader, in Gradescope, in a notebook."""

from grader.core.sanitize import plain
from grader.protocol.standing import Standing
from grader.records.records import CheckRecord, ExerciseRecord

MAX_CHECKS = 5
MAX_WIDTH = 160


def comment(judged: ExerciseRecord) -> str | None:
    """The checks that did not pass, and why, what names the mistake first; None where all did.

    All but the first line is indented by four, which nbgrader's feedback shows as it stands:
    it renders comments as Markdown, and a message may quote what an answer made up.
    """
    if judged.status == "passed":
        return None
    ran = [check for check in judged.checks if check.outcome != "not_graded"]
    missed = judged.missed
    status = judged.status.replace("_", " ")
    if not ran:
        unread = judged.flags if judged.status == "not_graded" else ()
        return "\n\n".join([status, *(f"    {flag[:MAX_WIDTH]}" for flag in unread)])
    told = [f"{status}: {Standing.of((c.fine, c.outcome) for c in ran).counts} checks passed"]
    for check in missed[:MAX_CHECKS]:
        told += ["", *_lines(check)]
    if len(missed) > MAX_CHECKS:
        told += ["", f"    and {len(missed) - MAX_CHECKS} more that did not pass"]
    return "\n".join(told)


def _lines(check: CheckRecord) -> list[str]:
    title = " ".join(plain(check.title or check.id).split())
    told = check.reason.short().lines if check.reason else []
    return [f"    {line[:MAX_WIDTH]}".rstrip() for line in [title, *(f"  {line}" for line in told)]]
