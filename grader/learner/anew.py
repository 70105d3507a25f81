"""Answers that are judged anew, once: after an update, or where what was noted of them was damaged."""

import os
from datetime import date

from rich.console import Console

from grader.core.progress_bar import bar
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.engine.backend import judge
from grader.learner.outcome import learn
from grader.protocol.job import Job
from grader.protocol.statuses import SOLVED
from grader.records import capstones, practice, progress


def settle(err: Console) -> None:
    """Judge every answer of which nothing is known, if there is a reason to; the reason is told in a line.

    What is solved counts as solved on the day on which its file was saved.
    """
    why = progress.lost()
    if not why:
        return
    there = [e for e in load().exercises if e.file("exercises").exists()]
    left = [e for e in there if not progress.is_known(e) and not capstones.is_untouched(e)]
    count = f"{len(left)} answer{'s' if len(left) > 1 else ''}"
    err.print(f"{why}; judging {count} anew, once" if left else f"{why}; no answer was lost")
    if left:
        _judge(left, err)
    progress.found()


def _judge(exercises: list[Exercise], err: Console) -> None:
    jobs = [Job(e, e.content("exercises"), seed=0, mode="check") for e in exercises]
    with bar(err, "judging answers") as told, judge(exercises, os.cpu_count() or 1) as warm:
        for number, (job, found) in enumerate(warm.judge(jobs), start=1):
            exercise = job.exercise
            lesson = learn(exercise, warm.inventory.get(exercise.slug, []), found)
            state = lesson.mark
            new = progress.remember({exercise: state})
            failed = [f.check for f in lesson.failures]
            capstones.saw(exercise, failed, lesson.held, is_solved=state in SOLVED)
            if state in SOLVED:
                practice.note(new, date.fromtimestamp(exercise.file("exercises").stat().st_mtime))
            told(number, len(jobs))
