"""What formgrader shows of a course: of every student a notebook with the answers and their verdicts.

formgrader counts what lies in `submitted/` and shows `autograded/<student>/<assignment>/<notebook>.ipynb`,
where `nbgrader autograde` puts it. Whoever hands in files has neither, so both are written here, after the
pattern of the notebook in `source/`. A notebook that was handed in stays as it is.
"""

import copy
import json
import os
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course.catalog import Catalog, Section
from grader.course.cell_names import answer_cell
from grader.course.exercise import Exercise
from grader.nbgrader import source_notebooks
from grader.records.comments import comment
from grader.records.records import ExerciseRecord, StudentRecord, read_json, write_json
from grader.submissions.class_folder import Submission
from grader.submissions.decode import MARK
from grader.submissions.io.folders import Directory, Refused
from grader.submissions.notebook import MOST_BYTES, answers_in
from grader.submissions.notebook_answer import split
from grader.submissions.platforms import SUBMITTED, TIMESTAMP

_NO_NAMES = (".", "..")
"""Students may be called so in an archive, but no folder of theirs can."""

Times = Mapping[tuple[str, str], datetime | None]
"""When a student's work on an assignment came, as the gradebook has it."""


def is_course(folder: Path, catalog: Catalog) -> bool:
    """Whether `folder` is an nbgrader course with sections of ours."""
    return any(_source(folder, section).is_file() for section in catalog.assignments)


def write(
    folder: Path,
    work: Iterable[Submission],
    records: Iterable[StudentRecord],
    judged: Collection[str],
    catalog: Catalog,
    times: Times,
    progress: Progress = silent,
) -> None:
    """Write what formgrader shows into the course `folder`.

    `judged` are the exercises of this run: of the others, what is shown stays.

    Raises:
        KataError: a source notebook cannot be read, or the course cannot be written.
    """
    handed_in = {submission.student: submission for submission in work}
    students = [record for record in records if record.student not in _NO_NAMES]
    slugs = {slug for record in students for slug in record.exercises}
    sections = [section for section in catalog.assignments if _source(folder, section).is_file()]
    patterns = {section.name: _pattern(folder, section, slugs) for section in sections}
    try:
        for done, record in enumerate(students):
            progress(done, len(students))
            for section in sections:
                if any(exercise.slug in record.exercises for exercise in section.exercises):
                    view = _View(folder, section, record, times.get((record.student, section.name)))
                    own = handed_in.get(record.student, Submission(record.student))
                    view.write(patterns[section.name], own.answers, {*judged} - own.kept)
    except OSError as error:
        raise KataError(
            f"cannot write what formgrader shows ({error.filename}: {error.strerror}); mend that and run "
            "again. Scores are in the gradebook"
        ) from None


def _source(folder: Path, section: Section) -> Path:
    return folder / "source" / section.name / f"{section.name}.ipynb"


def _pattern(folder: Path, section: Section, slugs: Collection[str]) -> Any:
    """The section's notebook as students get it, with the cells of graded exercises that it lacks."""
    import nbformat
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

    file = _source(folder, section)
    untyped: Any = nbformat
    try:
        pattern = untyped.read(file, 4)
        names = {_name(cell) for cell in pattern.cells}
        lacking = [e for e in section.exercises if e.slug in slugs and e.slug not in names]
        for cell in source_notebooks.notebook(section, lacking)["cells"][1:]:
            pattern.cells.append(untyped.from_dict({**cell, "source": "".join(cell["source"])}))
        for step in (ClearSolutions, ClearHiddenTests):
            pattern, _ = step().preprocess(pattern, {})
    except Exception as broken:  # nbformat and nbgrader raise all kinds
        why = (str(broken).splitlines() or [""])[0]
        raise KataError(
            f"{file} cannot be read ({type(broken).__name__}: {why[:200]}), so formgrader shows no answers; "
            "mend it or make it again with `kata notebooks`. Scores are in the gradebook"
        ) from None
    return pattern


class _View:
    """What formgrader shows of one student's section."""

    def __init__(self, folder: Path, section: Section, record: StudentRecord, time: datetime | None) -> None:
        own = Path(record.student) / section.name
        self.section = section
        self.record = record
        self.time = None if time is None else f"{time.isoformat(' ')} UTC\n"
        self.submitted = folder / SUBMITTED / own
        self.autograded = folder / "autograded" / own
        self.name = f"{section.name}.ipynb"

    def write(self, pattern: Any, answers: Mapping[str, bytes], judged: Collection[str]) -> None:
        handed_in, shown = _read(self.submitted / self.name), _read(self.autograded / self.name)
        before = self._answers(shown)
        handed = {e.slug: _shown(e, answers[e.slug]) for e in self.section.exercises if e.slug in answers}
        slugs = [exercise.slug for exercise in self.section.exercises]
        now = {slug: (handed if slug in judged else before).get(slug) for slug in slugs}
        if shown and not _is_ours(shown) and now == {slug: before.get(slug) for slug in slugs}:
            notebook = shown  # by `nbgrader autograde`, with all that stands around the answers
        else:
            notebook = self._filled(pattern, now, handed_in or shown)
            if _is_ours(handed_in) or not _names_in(self.submitted) - {TIMESTAMP}:
                self._put(self.submitted, notebook)
        for cell in notebook["cells"]:
            record = self.record.exercises.get(_name(cell))
            if record is not None and cell.get("cell_type") == "code":
                cell["outputs"] = [_output(record)]
        self._put(self.autograded, notebook)

    def _answers(self, notebook: Any) -> dict[str, bytes]:
        projects = {answer_cell(e.slug): e.slug for e in self.section.exercises if e.is_project}
        cells = {_name(cell): cell["source"] for cell in notebook.get("cells", ())}
        try:
            found = answers_in(json.dumps(notebook).encode(), Catalog((self.section,)))
        except KataError:
            found = {}
        return found | {projects[name]: cells[name].encode() for name in projects.keys() & cells.keys()}

    def _filled(self, pattern: Any, answers: Mapping[str, bytes | None], by_hand: Any) -> Any:
        """The pattern with answers, and with what a student wrote into cells that a person grades."""
        notebook = copy.deepcopy(pattern)
        notebook["metadata"][MARK] = {"student": self.record.student}
        written = {_name(cell): cell["source"] for cell in by_hand.get("cells", ())}
        starts = {answer_cell(exercise.slug): exercise for exercise in self.section.exercises}
        for cell in notebook["cells"]:
            name = _name(cell)
            about = cell["metadata"].get("nbgrader", {})
            if name in starts:
                cell["source"] = _code(starts[name], answers.get(starts[name].slug))
            elif (about.get("solution") or about.get("task")) and name in written:
                cell["source"] = written[name]
        return notebook

    def _put(self, folder: Path, notebook: Any) -> None:
        if read_json(folder / self.name) != notebook:
            write_json(folder / self.name, notebook)
        stamp = folder / TIMESTAMP
        if (stamp.read_text("utf-8") if stamp.is_file() else None) != self.time:
            stamp.unlink(missing_ok=True)  # nbgrader makes its files read-only
            if self.time is not None:
                stamp.write_text(self.time, "utf-8")


def _name(cell: Any) -> str:
    about = cell["metadata"].get("nbgrader")
    return str(about.get("grade_id", "")) if isinstance(about, dict) else ""


def _is_ours(notebook: Any) -> bool:
    return MARK in notebook.get("metadata", {})


def _names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()


def _shown(exercise: Exercise, answer: bytes) -> bytes:
    """An answer as a cell shows it: of a project, one file after another."""
    return exercise.text(answer).strip("\n").encode() if exercise.is_project else answer


def _code(exercise: Exercise, answer: bytes | None) -> str:
    head, start = split(exercise.file("exercises"))
    text = start if answer is None else answer.decode("utf-8-sig", "replace").removeprefix(head)
    return text.strip("\n")


def _output(record: ExerciseRecord) -> dict[str, Any]:
    score = (
        "needs a person" if record.needs_manual_grade else f"{record.score:.4g} of {record.points:g} points"
    )
    told = comment(record) or "passed"
    return {"output_type": "stream", "name": "stdout", "text": f"{score}; {told}\n"}


def _read(file: Path) -> dict[str, Any]:
    """A notebook that may be a student's; empty where there is none or it is not one."""
    try:
        handle = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return {}
    try:
        notebook = json.loads(Directory(handle).content(file.name, MOST_BYTES))
        notebook["cells"] = [
            {**cell, "source": "".join(cell["source"]), "metadata": dict(cell["metadata"])}
            for cell in notebook["cells"]
        ]
        return {**notebook, "metadata": dict(notebook["metadata"])}
    except (OSError, Refused, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    finally:
        os.close(handle)
