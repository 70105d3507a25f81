"""What formgrader shows of a course: of every student a notebook with the answers and their verdicts.

formgrader counts what lies in `submitted/` and shows `autograded/<student>/<assignment>/<notebook>.ipynb`,
where `nbgrader autograde` puts it. Whoever hands in files has neither, so both are written here, after the
pattern of the notebook in `source/`. A notebook that was handed in stays as it is.
"""

import copy
import json
import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.classroom.nbgrader import source_notebooks, source_points
from grader.classroom.nbgrader.gradebook import is_markup
from grader.classroom.submissions.class_folder import Submission, listed
from grader.classroom.submissions.generated import is_generated, mark
from grader.classroom.submissions.io.folders import Directory, Refused
from grader.classroom.submissions.notebook import MOST_BYTES, answers_in, read
from grader.classroom.submissions.platforms import SUBMITTED, TIMESTAMP
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course.catalog import Catalog, Section
from grader.course.cell_names import answer_cell
from grader.course.exercise import Exercise
from grader.notebooks.start import split
from grader.records.comments import comment
from grader.records.records import ExerciseRecord, StudentRecord, read_json, write_json
from grader.verdict import cache_key

_NO_NAMES = (".", "..")
"""Students may be called so in an archive, but no folder of theirs can."""

Times = Mapping[tuple[str, str], datetime | None]
"""When a student's work on an assignment came, as the gradebook has it."""


def is_course(folder: Path, catalog: Catalog) -> bool:
    """Whether `folder` is an nbgrader course with sections of ours."""
    return any(source_points.source(folder, section).is_file() for section in catalog.assignments)


def write(
    folder: Path,
    work: Iterable[Submission],
    records: Iterable[StudentRecord],
    judged: Collection[str],
    catalog: Catalog,
    times: Times,
    progress: Progress = silent,
) -> tuple[str, ...]:
    """Write what formgrader shows into the course `folder`; returns what else has changed there, a line each.

    `judged` are the exercises of this run: of the others, what is shown stays. Who is not in the class's
    `work` is shown anew where something was shown before. Feedback on what has changed is taken away, as
    nbgrader would keep it, and notebooks in `source/` get the points of today.

    Raises:
        KataError: a source notebook cannot be read, or the course cannot be written.
    """
    handed_in = {submission.student: submission for submission in work}
    known = (record for record in records if record.student not in _NO_NAMES)
    students = [record for record in known if not is_markup(record.student)]
    slugs = {slug for record in students for slug in record.exercises}
    sections = [section for section in catalog.assignments if source_points.source(folder, section).is_file()]
    patterns = {section.name: _pattern(folder, section, slugs) for section in sections}
    gone: dict[str, list[str]] = {}
    try:
        for done, record in enumerate(students):
            progress(done, len(students))
            for section in sections:
                if any(exercise.slug in record.exercises for exercise in section.exercises):
                    view = _View(folder, section, record, times.get((record.student, section.name)))
                    own = handed_in.get(record.student)
                    if (own or view.is_shown) and view.write(patterns[section.name], own, judged):
                        gone.setdefault(section.name, []).append(record.student)
        renewed = source_points.renew(folder, sections)
    except OSError as error:
        raise KataError(
            f"cannot write what formgrader shows ({error.filename}: {error.strerror}); mend that and run "
            "again. Scores are in the gradebook"
        ) from None
    notes: list[str] = []
    for name, names in gone.items():
        what = f"feedback of before taken away, `nbgrader generate_feedback {name}` makes it anew"
        notes += listed(what, names)
    for name in renewed:
        notes.append(
            f"points of today are in source/{name}/{name}.ipynb now; `nbgrader generate_assignment {name} "
            "--force` puts them into what students get"
        )
    return tuple(notes)


def _pattern(folder: Path, section: Section, slugs: Collection[str]) -> Any:
    """The section's notebook as students get it, with the cells of graded exercises that it lacks."""
    import nbformat
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

    file = source_points.source(folder, section)
    untyped: Any = nbformat
    try:
        pattern = untyped.read(file, 4)
        source_points.revalue(pattern, section.exercises)
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
        self._feedback = folder / "feedback" / own

    @property
    def is_shown(self) -> bool:
        """Whether there is something to see."""
        return (self.autograded / self.name).is_file()

    def write(self, pattern: Any, own: Submission | None, judged: Collection[str]) -> bool:
        """Show it as it is now; True where that took feedback on something else away."""
        handed_in, shown = _read(self.submitted / self.name), _read(self.autograded / self.name)
        before = self._answers(shown)
        now: dict[str, bytes | None] = {}
        for exercise in self.section.exercises:
            slug = exercise.slug
            now[slug] = before.get(slug)
            if own and slug in judged and slug not in own.kept and not self._is_earlier(exercise, own):
                now[slug] = _shown(exercise, own.answers[slug]) if slug in own.answers else None
        if shown and not is_generated(shown) and now == {slug: before.get(slug) for slug in now}:
            notebook = shown  # by `nbgrader autograde`, with all that stands around the answers
        else:
            notebook = self._filled(pattern, now, handed_in or shown)
            if is_generated(handed_in) or not _names_in(self.submitted) - {TIMESTAMP}:
                self._put(self.submitted, notebook)
        for cell in notebook["cells"]:
            record = self.record.exercises.get(_name(cell))
            if record is not None and cell.get("cell_type") == "code":
                cell["outputs"] = [_output(record)]
        source_points.revalue(notebook, self.section.exercises)
        is_other = self._put(self.autograded, notebook)
        is_gone = is_other and self._feedback.is_dir()
        if is_gone:
            shutil.rmtree(self._feedback)  # as --force does: nbgrader skips what has a folder
        return is_gone

    def _is_earlier(self, exercise: Exercise, own: Submission) -> bool:
        """Whether the verdict is on an answer of before, as nothing was handed in now."""
        record = self.record.exercises.get(exercise.slug)
        if record is None or record.status == "todo" or exercise.slug in own.problems:
            return False
        answer = own.answers.get(exercise.slug)
        if answer is None or not own.holds(exercise):
            return True
        return record.digests.get("answer", known := cache_key.of_answer(answer)) != known

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
        written = {_name(cell): cell["source"] for cell in by_hand.get("cells", ())}
        starts = {answer_cell(exercise.slug): exercise for exercise in self.section.exercises}
        for cell in notebook["cells"]:
            name = _name(cell)
            about = cell["metadata"].get("nbgrader", {})
            if name in starts:
                cell["source"] = _code(starts[name], answers.get(starts[name].slug))
            elif (about.get("solution") or about.get("task")) and name in written:
                cell["source"] = written[name]
        mark(notebook, self.record.student)
        return notebook

    def _put(self, folder: Path, notebook: Any) -> bool:
        """Write notebook and time; True where there were others."""
        is_other = bool(read_json(folder / self.name) != notebook)
        if is_other:
            write_json(folder / self.name, notebook)
        stamp = folder / TIMESTAMP
        if (stamp.read_text("utf-8") if stamp.is_file() else None) != self.time:
            stamp.unlink(missing_ok=True)  # nbgrader makes its files read-only
            if self.time is not None:
                stamp.write_text(self.time, "utf-8")
            return True
        return is_other


def _name(cell: Any) -> str:
    about = cell["metadata"].get("nbgrader")
    return str(about.get("grade_id", "")) if isinstance(about, dict) else ""


def wrote(folder: Path) -> bool:
    """Whether there is nothing in an assignment's folder but what was written here."""
    name = f"{folder.name}.ipynb"
    return is_generated(_read(folder / name)) and _names_in(folder) <= {name, TIMESTAMP}


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
        notebook = read(Directory(handle).content(file.name, MOST_BYTES))
        notebook["cells"] = [
            {**cell, "source": "".join(cell["source"]), "metadata": dict(cell["metadata"])}
            for cell in notebook["cells"]
        ]
        return {**notebook, "metadata": dict(notebook["metadata"])}
    except (OSError, Refused, KataError, TypeError, KeyError, AttributeError):
        return {}
    finally:
        os.close(handle)
