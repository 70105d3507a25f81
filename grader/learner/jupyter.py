"""`check("merge_heads")` in Jupyter and Colab: the same feedback, shown with pictures."""

import atexit
import contextlib
import html
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NoReturn

from grader.core.cell_text import python
from grader.core.errors import KataError
from grader.course import paths, policy
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.diagnose.svg import squares
from grader.engine.backend import judge
from grader.learner.outcome import Failure, Lesson, learn
from grader.notebooks.cell_choice import Cell
from grader.notebooks.notebook_answer import Gathered, gathered
from grader.notebooks.start import asked
from grader.protocol.feedback import Feedback
from grader.protocol.job import Job
from grader.protocol.judge import Judge
from grader.protocol.statuses import SOLVED, STATUSES
from grader.records import practice, progress

MOST_PRINTED = 20
_STYLE = "font-family:monospace;white-space:pre-wrap;margin:0.2em 0"


_NBGRADER = "NBGRADER_EXECUTION"
"""Set in kernels that nbgrader starts, for `validate` and for `autograde`."""


def check(slug: str, namespace: Mapping[str, Any]) -> "Verdict | None":
    """Judge what `namespace` defines for an exercise.

    Under nbgrader, which takes a cell's value for points and all but an error for full marks, the public
    checks alone are run; what they find is printed, or raised.
    """
    exercise = load().exercise(slug)
    is_graded = _NBGRADER in os.environ
    answer = _executed(exercise, namespace)
    expected = _pool().inventory.get(slug, [])
    if is_graded:
        expected = [one for one in expected if one.id.startswith("public::")]
    only = tuple(one.id for one in expected) if is_graded else ()
    found = _pool().judge_one(Job(exercise, _bytes(answer), seed=0, mode="check", only=only))
    if found.fault and os.environ.get(_NBGRADER) == "autograde":
        _give_up(slug, found.fault)
    lesson = learn(exercise, expected or _pool().inventory.get(slug, []), found)
    lesson = _in_cells(lesson, answer)
    nothing_runs_here = bool(lesson.skipped) and not lesson.passed
    if is_graded and (lesson.state == "failing" or (lesson.state == "todo" and not nothing_runs_here)):
        raise NotPassed(repr(Verdict(lesson)))
    if is_graded:
        print(repr(Verdict(lesson)))
        return None
    with contextlib.suppress(OSError):  # a verdict is worth more than the note of it
        practice.note(progress.remember({exercise: lesson.state}))
        if why := progress.lost():
            print(f"{why}; `kata` judges all answers anew")
    if lesson.state == "failing":
        before = progress.step_before(load(), exercise, progress.states(load()))
        lesson = replace(lesson, before=before)
    return Verdict(lesson)


class NotPassed(Exception):
    """Public checks do not pass; the message says which, and why."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def score(slug: str, namespace: Mapping[str, Any]) -> float:
    """Judge what the cells run so far define as `kata grade` would, and return its points.

    Raises:
        KataError: no cell defines it, or the hidden suites are not here.
    """
    from grader.records.comments import comment
    from grader.verdict.references import References
    from grader.verdict.score import scored

    exercise = load().exercise(slug)
    pool = _pool()
    if not (exercise.file(exercise.suites[-1]).is_file() and exercise.file("solutions").is_file()):
        raise KataError(f"{slug} cannot be graded here: that takes the hidden suites and the solutions")
    job = Job(exercise, _bytes(_executed(exercise, namespace)), seed=0)
    record = scored(References(pool, 0).verdict(job, pool.judge_one(job)), policy.load())
    if record.needs_manual_grade:
        _give_up(slug, "; ".join(record.flags) or "this machine lacks what its checks need")
    print(comment(record) or "passed")
    return record.score


def _executed(exercise: Exercise, namespace: Mapping[str, Any]) -> Gathered:
    """The answer in the cells that were run, as it is read out of a notebook that is handed in."""
    if exercise.is_project:
        place = paths.shown(exercise.place("exercises"))
        raise KataError(
            f"the answer to {exercise.slug} is a folder: write it in {place}, and use `kata watch`"
        )
    answer = gathered(exercise, [Cell(python(text)) for text in _run(namespace)])
    if answer is None:
        wanted = " or ".join(asked(exercise.file("exercises")))
        raise KataError(f"no cell defines {wanted}; run the cell that does, then check again")
    return answer


def _run(namespace: Mapping[str, Any]) -> list[str]:
    """The texts of the cells that were run, by their number. `In` holds them with magics translated."""
    shell = namespace.get("get_ipython")
    texts = shell().history_manager.input_hist_raw if callable(shell) else namespace.get("In", ())
    return [text if isinstance(text, str) else "" for text in texts]


def _bytes(answer: Gathered) -> bytes:
    return answer.text.encode("utf-8", "replace")


def _in_cells(lesson: Lesson, answer: Gathered) -> Lesson:
    """The lesson with places in cells: there is no such file to open."""
    file = rf"[^\s\"]*{re.escape(lesson.exercise.file('exercises').name)}"

    def told(text: str) -> str:
        kept = [line for line in text.splitlines() if not re.fullmatch(rf"\s*{file}", line)]
        return re.sub(
            rf"{file}(?::(\d+))?", lambda found: _place(int(found[1] or 0), answer), "\n".join(kept)
        )

    failures = tuple(replace(f, feedback=_in_cell(f.feedback, told, answer)) for f in lesson.failures)
    return replace(lesson, failures=failures, trouble=told(lesson.trouble))


def _in_cell(feedback: Feedback, told: Callable[[str], str], answer: Gathered) -> Feedback:
    """The feedback with its place in a cell, and `told` of what it says of other places."""
    where = feedback.where
    if where:
        cell, line = answer.lines.get(where.line, (None, 0))
        file = "a cell" if cell is None else f"cell [{cell}]"
        where = where._replace(file=file, line=line) if where.line else None
    facts = tuple(fact._replace(text=told(fact.text)) for fact in feedback.facts)
    headline, likely = told(feedback.headline), told(feedback.likely)
    return replace(feedback, headline=headline, facts=facts, likely=likely, where=where)


def _place(line: int, answer: Gathered) -> str:
    where = answer.lines.get(line)
    return f"cell [{where[0]}], line {where[1]}" if where else "a cell"


def _give_up(slug: str, reason: str) -> NoReturn:
    """End the kernel: any value and any error of the cell would be a score, and nobody has earned one."""
    print(f"kata: {slug} was not graded: {reason}", file=sys.__stderr__, flush=True)
    os._exit(1)


@cache
def _pool() -> Judge:
    """One warm engine for as long as the notebook runs."""
    pool = judge(load().exercises, jobs=1).__enter__()
    atexit.register(pool.close)
    return pool


@dataclass(frozen=True)
class Verdict:
    """What is shown for one answer: as text, or as HTML where a notebook asks for it."""

    lesson: Lesson

    def __repr__(self) -> str:
        found = self.lesson
        if found.trouble and found.state == "failing":
            return f"✗ {found.exercise.slug}\n{found.trouble}{_printed(found)}"
        if found.state == "todo":
            lines = [f"✓ {title}" for title in found.passed] if found.rest else _not_here(found)
            return "\n".join([f"· {found.exercise.slug} is {found.rest or 'still to do'}", *lines])
        first = ["\n".join(_told(found, failure)) for failure in found.failures[:1]]
        if found.state == "works":
            lines = [
                f"{STATUSES['works'].mark} {found.exercise.slug}: {found.standing.words(found.exercise)}"
            ]
            lines += [f"✗ {title}" for title in found.fine_print]
            lines += [found.trouble] if found.trouble else first
        else:
            lines = [f"✗ {told}" for told in first] + [f"✗ {title}" for title in _others(found)]
        lines += [f"✓ {title}" for title in found.passed]
        if found.state in SOLVED and found.exercise.reading:
            lines.append(f"read {found.exercise.reading}")
        return "\n".join(lines) + _printed(found)

    def _repr_html_(self) -> str:
        found = self.lesson
        parts = [_headline(found)]
        if found.trouble:
            parts.append(_text(found.trouble))
        if found.state == "works":
            parts += [_line("✗", title, "#8a6d3b") for title in found.fine_print]
        parts += [_failure(found, failure) for failure in found.failures[:1]]
        if found.state == "failing":
            parts += [_line("✗", title, "#d9534f") for title in _others(found)]
        parts += [_line("✓", title, "#2e7d32") for title in found.passed]
        parts += [_text(line) for line in _not_here(found)]
        if found.state in SOLVED and found.exercise.reading:
            link = html.escape(found.exercise.reading, quote=True)
            parts.append(f'<div>read <a href="{link}">{link}</a></div>')
        if found.printed:
            parts.append(_text(_printed(found)))
        return f"<div>{''.join(parts)}</div>"


def _others(found: Lesson) -> list[str]:
    """What else fails, each sentence once: a check that runs on several inputs says the same each time."""
    first = found.failures[:1]
    return list(dict.fromkeys(f.line for f in found.failures if f.title != first[0].title))


def _not_here(found: Lesson) -> list[str]:
    return [f"– not judged here: {title}" for title in found.skipped]


def _printed(found: Lesson) -> str:
    lines = found.printed.splitlines()
    more = ["…"] if len(lines) > MOST_PRINTED else []
    return "\n".join(["\nprinted:", *lines[:MOST_PRINTED], *more]) if lines else ""


def _headline(found: Lesson) -> str:
    count = f"{len(found.passed)} passed, {len({f.title for f in found.failures})} failed"
    if found.state == "todo":
        count = html.escape(found.rest) or "still to do"
    if found.state in SOLVED:
        count = found.standing.words(found.exercise)
    return f"<p><b>{STATUSES[found.state].mark} {html.escape(found.exercise.title)}</b> — {count}</p>"


def _line(mark: str, text: str, colour: str) -> str:
    return f'<div style="{_STYLE};color:{colour}">{mark} {html.escape(text)}</div>'


def _text(text: str) -> str:
    return f'<div style="{_STYLE}">{html.escape(text)}</div>'


def _told(found: Lesson, failure: Failure) -> list[str]:
    return failure.feedback.lines_for(found.exercise, failure.title, found.before)


def _failure(found: Lesson, failure: Failure) -> str:
    """The feedback, and below it a picture of where the tensors differ."""
    heatmap = failure.feedback.heatmap
    told = _told(found, replace(failure, feedback=replace(failure.feedback, heatmap=None)))
    drawing = [_text(heatmap.note), squares(heatmap.rows)] if heatmap else []
    return "".join([_text("\n".join(told)), *drawing])
