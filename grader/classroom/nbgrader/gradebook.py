"""Write results into an nbgrader gradebook: sections and their steps are assignments, exercises are cells."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from grader.classroom.nbgrader import worth
from grader.classroom.nbgrader.connection import first_line, one_students, opened, place
from grader.classroom.nbgrader.extensions import Extensions
from grader.classroom.nbgrader.lateness import Penalties, enter_time
from grader.core.progress_bar import Progress, silent
from grader.course.catalog import Catalog
from grader.course.cell_names import answer_cell
from grader.course.exercise import Exercise
from grader.course.roster import NOBODY, Roster
from grader.course.roster import Student as Entry
from grader.records.arrivals import Arrival, Arrivals
from grader.records.comments import comment
from grader.records.records import ExerciseRecord, StudentRecord


def write(
    url: str,
    records: Iterable[StudentRecord],
    catalog: Catalog,
    arrivals: Arrivals | None = None,
    progress: Progress = silent,
    roster: Roster = NOBODY,
    extensions: Extensions | None = None,
) -> list[str]:
    """Enter every record's scores and comments; return the problems, one line for each.

    `url` is any SQLAlchemy URL, or a bare path, which means SQLite. Manual scores, extra credit
    and manual comments stay as they are, and writing the same records again changes nothing.
    A student is written in one transaction: wholly or not at all. A student who cannot be
    written is a problem that is returned, and the next one follows; a gradebook that cannot be
    written raises `KataError`. `arrivals` tells when the work came: penalties for what came late
    are those of the course's `nbgrader_config.py`, which lies beside the gradebook or in the current folder.
    What the `roster` says of a student's name, e-mail address and extension is what nbgrader keeps; what it
    granted before, as `extensions` tells, is taken back where it does not any more.
    """
    students = list(records)
    where = place(url)
    penalties = Penalties(where.folder)
    granted = extensions or Extensions()
    with opened(where) as gradebook:
        problems, rescaled = _prepare(gradebook, students, catalog)
        for done, record in enumerate(students):
            progress(done, len(students))
            if is_markup(record.student):
                why = "formgrader would take a part of this name for HTML; rename what was handed in"
                problems.append(f"{record.student}: not written to the gradebook: {why}")
                continue
            try:
                problems += _write_student(
                    gradebook, record, catalog, arrivals or {}, penalties, roster, granted
                )
            except one_students() as mistake:
                gradebook.db.rollback()
                problems.append(f"{record.student}: not written to the gradebook: {first_line(mistake)}")
        written = {record.student for record in students}
        problems += worth.reckon_again(gradebook, rescaled, written, penalties)
    return problems


def is_markup(student: str) -> bool:
    """Whether a name would be more than text on formgrader's pages, which escape nothing."""
    return not _MARKUP.isdisjoint(student)


_MARKUP = frozenset('<>"\\')


def times(url: str) -> dict[tuple[str, str], datetime | None]:
    """When each student's work on each assignment came, as far as the gradebook knows."""
    from nbgrader.api import SubmittedAssignment

    with opened(place(url)) as gradebook:
        return {(one.student.id, one.name): one.timestamp for one in gradebook.db.query(SubmittedAssignment)}


def _known(record: StudentRecord, catalog: Catalog) -> list[tuple[Exercise, ExerciseRecord]]:
    return [(e, record.exercises[e.slug]) for e in catalog.exercises if e.slug in record.exercises]


def _prepare(gradebook: Any, students: list[StudentRecord], catalog: Catalog) -> tuple[list[str], list[str]]:
    """Make the assignments and cells that the records need.

    All cells come before the first submission, which copies the cells that it finds. Returns a line for each
    unknown exercise, and the assignments with an exercise whose points have changed.
    """
    rescaled = []
    slugs = {slug for record in students for slug in record.exercises}
    for section in catalog.assignments:
        exercises = [e for e in section.exercises if e.slug in slugs]
        if not exercises:
            continue
        due = {} if section.due is None else {"duedate": section.due}  # else it stays what it is there
        gradebook.update_or_create_assignment(section.name, **due)
        gradebook.update_or_create_notebook(section.name, section.name)
        for exercise in exercises:
            home = (section.name, section.name)
            points, answer = float(exercise.points), answer_cell(exercise.slug)
            if worth.rescale(gradebook, exercise, points):
                rescaled.append(section.name)
            gradebook.update_or_create_grade_cell(exercise.slug, *home, max_score=points, cell_type="code")
            gradebook.update_or_create_solution_cell(answer, *home)
            for cell in (exercise.slug, answer):
                gradebook.update_or_create_source_cell(cell, *home, cell_type="code")
    unknown = sorted(slugs - {e.slug for e in catalog.exercises})
    problems = [f"{slug}: not written to the gradebook: the catalog has no such exercise" for slug in unknown]
    return problems, [*dict.fromkeys(rescaled)]


def _write_student(
    gradebook: Any,
    record: StudentRecord,
    catalog: Catalog,
    arrivals: Arrivals,
    penalties: Penalties,
    roster: Roster,
    extensions: Extensions,
) -> list[str]:
    """Enter one student; return what could not be entered of it."""
    from nbgrader.api import MissingEntry, Student

    # The session is used directly because every method of nbgrader's that adds something commits.
    try:
        student = gradebook.find_student(record.student)
    except MissingEntry:
        student = Student(id=record.student)
        gradebook.db.add(student)
    told = roster.find(record.student) or Entry(record.student)
    _name(student, told)
    exercises = _known(record, catalog)
    problems = []
    for section in dict.fromkeys(exercise.assignment for exercise, _ in exercises):
        grades, comments = _cells(gradebook, section, student)
        for exercise, judged in exercises:
            if exercise.assignment == section:
                _enter(grades[exercise.slug], judged, exercise)
                comments[answer_cell(exercise.slug)].auto_comment = comment(judged)
        notebook = next(iter(grades.values())).notebook
        if roster.students:  # without a roster, nobody withdraws anything
            extensions.grant(notebook.assignment, told.extension)
        elif notebook.assignment in gradebook.db.new:
            extensions.renew(notebook.assignment)
        try:
            enter_time(notebook.assignment, arrivals.get((record.student, section), Arrival()))
        except ValueError as unread:
            problems.append(f"{record.student}: {unread}; entered without a time")
        gradebook.db.flush()
        penalties.assign(notebook)
    gradebook.db.commit()
    extensions.settle(record.student)
    return problems


def _name(student: Any, told: Entry) -> None:
    """Set what the roster tells; what it leaves out stays as a person may have entered it."""
    if told.name:
        student.first_name, student.last_name = told.first_and_last
    if told.email:
        student.email = told.email


def _cells(gradebook: Any, section: str, student: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The student's grades and comments in the section, by exercise.

    Does what nbgrader's `add_submission` does, and also for a submission that is older than
    some of the assignment's cells.
    """
    from nbgrader.api import Comment, Grade, MissingEntry, SubmittedAssignment, SubmittedNotebook

    db = gradebook.db
    assignment = gradebook.find_assignment(section)
    try:
        submission = gradebook.find_submission(section, student.id)
    except MissingEntry:
        submission = SubmittedAssignment(assignment=assignment, student=student)
        db.add(submission)
    grades, comments = {}, {}
    submitted = {one.notebook_id: one for one in submission.notebooks}
    for notebook in assignment.notebooks:
        mine = submitted.get(notebook.id) or SubmittedNotebook(notebook=notebook, assignment=submission)
        db.add(mine)
        graded = {grade.cell_id: grade for grade in mine.grades}
        commented = {remark.cell_id: remark for remark in mine.comments}
        for cell in [*notebook.grade_cells, *notebook.task_cells]:
            if cell.id not in graded:
                graded[cell.id] = Grade(cell_id=cell.id, notebook=mine)
        for cell in [*notebook.solution_cells, *notebook.task_cells]:
            if cell.id not in commented:
                commented[cell.id] = Comment(cell_id=cell.id, notebook=mine)
        db.add_all([*graded.values(), *commented.values()])
        if notebook.name == section:
            grades = {cell.name: graded[cell.id] for cell in notebook.grade_cells}
            comments = {cell.name: commented[cell.id] for cell in notebook.solution_cells}
    return grades, comments


def _enter(grade: Any, judged: ExerciseRecord, exercise: Exercise) -> None:
    """Set the automatic score, between zero and the points: nbgrader would accept 99 of 4."""
    score = None if judged.needs_manual_grade else min(max(0.0, judged.score), float(exercise.points))
    changed, grade.auto_score = grade.auto_score != score, score
    if grade.manual_score is None:
        grade.needs_manual_grade = score is None
    elif changed:
        # As nbgrader does: somebody graded what has changed since, and should look again.
        grade.needs_manual_grade = True
