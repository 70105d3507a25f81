"""What judges in place of nbgrader's own autograder.

nbgrader runs a student's notebook as whoever grades, and in the kernel that does so the student's code can
do anything, also to its score. So in the courses of `kata notebooks` no notebook is run: `JudgeAnswers` reads
the answers out of it and has them judged as `kata grade` does, and `EnterScores` writes what came out into
the gradebook, with the comments.
"""

import atexit
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Integer

from grader.classroom.nbgrader import gradebook
from grader.classroom.submissions.generated import is_generated
from grader.classroom.submissions.notebook import NotebookAnswers, held
from grader.core.errors import KataError
from grader.course import policy
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.engine.pool import Pool
from grader.protocol.job import Job
from grader.records.comments import comment
from grader.records.records import ExerciseRecord, StudentRecord
from grader.verdict.references import References
from grader.verdict.score import scored, unreadable, untouched

_RECORD, _NOTED = "torchkata", "torchkata_noted"


class JudgeAnswers(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Puts each exercise's score where running its test cell would have put it."""

    sandbox = Enum(
        ["required", "off"],
        "required",
        help="whether answers must be confined, as for `kata grade --sandbox`",
    ).tag(config=True)
    seed = Integer(0, help="draw the inputs from this seed, as for `kata grade --seed`").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        exercises = _set(resources)
        if is_generated(nb) and (noted := _noted(resources)):
            self.log.warning("Nobody handed this notebook in, `kata grade` wrote it: its scores stay")
            resources[_NOTED] = noted
            for cell in nb.cells:
                told = noted.comments.get(f"{cell.metadata.get('nbgrader', {}).get('grade_id')}-answer")
                if told and cell.cell_type == "code":
                    cell.outputs = [_node({"output_type": "stream", "name": "stdout", "text": f"{told}\n"})]
            return nb, resources
        try:
            found = held(json.dumps(nb).encode(), Catalog((Section("", "", exercises),)), load())
        except KataError as odd:
            records = {exercise.slug: unreadable(exercise, str(odd)) for exercise in exercises}
        else:
            records = _judge(exercises, found, self.sandbox == "required", self.seed)
        for cell in nb.cells:
            record = records.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if record is not None:
                cell.outputs = _outputs(record)
        resources[_RECORD] = StudentRecord(resources["nbgrader"]["student"], self.seed, records)
        return nb, resources


class EnterScores(NbGraderPreprocessor):  # type: ignore[misc]
    """Writes what was judged into the gradebook, also of exercises whose cells the student has deleted."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        if _NOTED in resources:
            _put_back(resources[_NOTED], about)
            return nb, resources
        if about["assignment"] != about["notebook"]:
            self.log.warning("No comments are written, since the notebook's name is not the assignment's")
            return nb, resources
        # As one section, whatever the assignment is called that they were set in, with steps or without.
        name = about["assignment"]
        due = next((one.due for one in load().course if one.name == name), None)
        section = Section(name, name, tuple(replace(e, set_in=name) for e in _set(resources)), due)
        for problem in gradebook.write(about["db_url"], [resources[_RECORD]], Catalog((section,))):
            raise KataError(problem)
        return nb, resources


def _set(resources: Any) -> tuple[Exercise, ...]:
    """The exercises that the notebook set, by what nbgrader noted when it generated the assignment.

    Raises:
        KataError: there is a test cell that somebody else wrote; if nobody ran it, it would earn all
            of its points.
    """
    about = resources["nbgrader"]
    known = {exercise.slug: exercise for exercise in load().exercises}
    with Gradebook(about["db_url"]) as book:
        notebook = book.find_notebook(about["notebook"], about["assignment"])
        by_hand = {cell.name for cell in notebook.solution_cells}
        tested = [(c.name, c.cell_type) for c in notebook.grade_cells if c.name not in by_hand]
    for name, kind in tested:
        if name not in known and kind == "code":
            raise KataError(
                f"the test cell {name} belongs to no exercise and only nbgrader itself can run it: take it "
                "out, or delete c.Autograde.autograde_preprocessors from nbgrader_config.py"
            )
    # A project's cell is there for `kata grade`, which reads folders.
    return tuple(known[name] for name, _ in tested if name in known and not known[name].is_project)


@dataclass(frozen=True)
class _Noted:
    """What the gradebook had of a notebook: by cell its score, whether a person is to look, its comment."""

    scores: Mapping[str, tuple[float | None, bool]]
    comments: Mapping[str, str | None]


def _noted(resources: Any) -> _Noted | None:
    """None where nothing was graded yet: a student may have put our mark into a notebook."""
    with Gradebook(resources["nbgrader"]["db_url"]) as book:
        mine = _submitted(book, resources["nbgrader"])
        scores = {one.name: (one.auto_score, one.needs_manual_grade) for one in mine.grades}
        comments = {one.name: one.auto_comment for one in mine.comments}
    is_graded = any(score is not None for score, _ in scores.values()) or any(comments.values())
    return _Noted(scores, comments) if is_graded else None


def _put_back(noted: _Noted, about: Any) -> None:
    with Gradebook(about["db_url"]) as book:
        mine = _submitted(book, about)
        for grade in mine.grades:
            grade.auto_score, grade.needs_manual_grade = noted.scores[grade.name]
        for remark in mine.comments:
            remark.auto_comment = noted.comments[remark.name]
        book.db.commit()


def _submitted(book: Any, about: Any) -> Any:
    return book.find_submission_notebook(about["notebook"], about["assignment"], about["student"])


def _judge(
    exercises: tuple[Exercise, ...], found: NotebookAnswers, is_confined: bool, seed: int
) -> dict[str, ExerciseRecord]:
    answers = found.answers
    why = found.why or ("" if answers else "holds no answer that can be read")
    unread = {e.slug for e in found.doubtful or exercises if why} - answers.keys()
    records = {e.slug: unreadable(e, f"the notebook {why}") for e in exercises if e.slug in unread}
    records |= {e.slug: untouched(e) for e in exercises if e.slug not in unread}
    tried = [e for e in exercises if e.slug in answers and not e.is_start(answers[e.slug])]
    if tried:
        pool, references = _engine(exercises, is_confined, seed)
        for job, told in pool.judge(Job(e, answers[e.slug], seed) for e in tried):
            records[job.slug] = scored(references.verdict(job, told), policy.load())
    return records


_warm: dict[Any, tuple[Pool, References]] = {}


def _engine(exercises: tuple[Exercise, ...], is_confined: bool, seed: int) -> tuple[Pool, References]:
    """One warm engine for a whole class, until something else is judged or a suite changes.

    formgrader runs this in a server that may live for weeks.
    """
    files = (file for e in exercises for file in (*map(e.file, e.suites), e.file("solutions")))
    written = tuple(file.stat().st_mtime_ns for file in files)
    key = (exercises, is_confined, seed, written)
    if key not in _warm:
        _close()
        pool = Pool(exercises, jobs=os.cpu_count() or 1, confined=is_confined).__enter__()
        _warm[key] = pool, References(pool, seed)
    return _warm[key]


@atexit.register
def _close() -> None:
    for pool, _ in _warm.values():
        pool.close()
    _warm.clear()


def _outputs(record: ExerciseRecord) -> list[Any]:
    """What nbgrader takes a cell's score from. What nobody could judge must not look like full marks."""
    if record.needs_manual_grade:
        error = {"output_type": "error", "ename": "NotGraded", "evalue": "", "traceback": [*record.flags]}
        return [_node(error)]
    told = (comment(record) or "passed").splitlines()[0]
    shown = {"data": {"text/plain": repr(record.score)}, "metadata": {}, "execution_count": 1}
    return [
        _node({"output_type": "stream", "name": "stdout", "text": f"{told}\n"}),
        _node({"output_type": "execute_result", **shown}),
    ]


_node: Any = nbformat.from_dict
