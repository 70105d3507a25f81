"""What judges in place of nbgrader's own autograder.

nbgrader runs a student's notebook as whoever grades, and in the kernel that does so the student's code can
do anything, also to its score. So in the courses of `kata notebooks` no notebook is run: `JudgeAnswers` reads
the answers out of it and has them judged as `kata grade` does, and `EnterScores` writes what came out into
the gradebook, with the comments.
"""

import atexit
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution
from traitlets import Enum, Integer

from grader import gradebook, sandbox
from grader.catalog import Exercise, load
from grader.errors import KataError
from grader.grade import References, is_stub
from grader.notebooks import answers_in
from grader.pool import Pool, Request
from grader.results import ExerciseRecord, StudentRecord
from grader.verdict import unreadable, untouched, verdict

_RECORD = "torchkata"


class JudgeAnswers(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Puts each exercise's score where running its test cell would have put it."""

    sandbox = Enum(
        ["required", "off"],
        "required",
        help="whether answers must be confined, as for `kata grade --sandbox`",
    ).tag(config=True)
    seed = Integer(0, help="draw the inputs from this seed, as for `kata grade --seed`").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        exercises = _set(about["db_url"], about["assignment"], about["notebook"])
        _expect_ours(nb, exercises)
        try:
            answers = answers_in(json.dumps(nb).encode(), load())
        except KataError as odd:
            records = {exercise.slug: unreadable(exercise, str(odd)) for exercise in exercises}
        else:
            records = _judge(exercises, answers, self.sandbox == "required", self.seed)
        for cell in nb.cells:
            record = records.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if record is not None:
                cell.outputs = _outputs(record)
        resources[_RECORD] = StudentRecord(about["student"], self.seed, records)
        return nb, resources


class EnterScores(NbGraderPreprocessor):  # type: ignore[misc]
    """Writes what was judged into the gradebook, also of exercises whose cells the student has deleted."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        for problem in gradebook.write(resources["nbgrader"]["db_url"], [resources[_RECORD]], load()):
            raise KataError(problem)
        return nb, resources


def _set(url: str, assignment: str, notebook: str) -> list[Exercise]:
    """The exercises that the assignment set."""
    with Gradebook(url) as book:
        names = {cell.name for cell in book.find_notebook(notebook, assignment).grade_cells}
    return [exercise for exercise in load().exercises if exercise.slug in names]


def _expect_ours(nb: Any, exercises: Sequence[Exercise]) -> None:
    """A test cell that somebody else wrote would earn all of its points if nobody ran it."""
    slugs = {exercise.slug for exercise in exercises}
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if cell.cell_type == "code" and is_grade(cell) and not is_solution(cell) and name not in slugs:
            raise KataError(
                f"the test cell {name} belongs to no exercise and only nbgrader itself can run it; "
                "delete c.Autograde.autograde_preprocessors from nbgrader_config.py"
            )


def _judge(
    exercises: Sequence[Exercise], answers: Mapping[str, bytes], is_confined: bool, seed: int
) -> dict[str, ExerciseRecord]:
    records = {exercise.slug: untouched(exercise) for exercise in exercises}
    tried = [e for e in exercises if e.slug in answers and not is_stub(e, answers[e.slug])]
    if tried:
        pool = _engine(tuple(exercises), is_confined)
        for request, findings in pool.judge(Request(e, answers[e.slug], seed) for e in tried):
            exercise = request.exercise
            expected, wanted = pool.inventory.get(exercise.slug, []), _references(pool, seed).of(exercise)
            records[exercise.slug] = verdict(exercise, expected, findings, wanted)
    return records


@cache
def _engine(exercises: tuple[Exercise, ...], is_confined: bool) -> Pool:
    """One warm engine for a whole class."""
    if is_confined and (reason := sandbox.unavailable()):
        raise KataError(reason)
    pool = Pool(exercises, jobs=os.cpu_count() or 1, confined=is_confined).__enter__()
    atexit.register(pool.close)
    return pool


@cache
def _references(pool: Pool, seed: int) -> References:
    return References(pool, seed)


def _outputs(record: ExerciseRecord) -> list[Any]:
    """What nbgrader takes a cell's score from. What nobody could judge must not look like full marks."""
    if record.needs_manual_grade:
        error = {"output_type": "error", "ename": "NotGraded", "evalue": "", "traceback": [*record.flags]}
        return [_node(error)]
    told = (gradebook.comment(record) or "passed").splitlines()[0]
    shown = {"data": {"text/plain": repr(record.score)}, "metadata": {}, "execution_count": 1}
    return [
        _node({"output_type": "stream", "name": "stdout", "text": f"{told}\n"}),
        _node({"output_type": "execute_result", **shown}),
    ]


_node: Any = nbformat.from_dict
