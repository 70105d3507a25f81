"""What a class handed in to an assignment with a suite of its own: of each student, the files that count."""

from pathlib import Path

from grader.classroom.submissions import trees
from grader.classroom.submissions.class_folder import Classwork, Submission, listed
from grader.classroom.submissions.repository import Landmarks, Tree
from grader.classroom.suite.reference import SuiteReference
from grader.classroom.suite.suite import Suite
from grader.core.errors import KataError
from grader.core.packed import packed
from grader.core.progress_bar import Progress, silent
from grader.course import paths
from grader.course.roster import NOBODY, Roster

ANSWER = "repository"
"""What a submission's own files are called among its answers: packed, all of them."""


def collect(folder: Path, suite: Suite, roster: Roster = NOBODY, progress: Progress = silent) -> Classwork:
    """Read what a class handed in, or one student.

    Raises:
        KataError: nothing can be read, or nothing of anybody's would count.
    """
    found = trees.collect(folder, _wanted(suite), progress, roster)
    submissions = tuple(_submission(tree, suite) for tree in found.students)
    work = Classwork(submissions, found.notes, found.is_one)
    _expect_some(work, suite)
    return work


def _wanted(suite: Suite) -> Landmarks:
    """A repository is where the first adapter lies, else where something lies as in the handout."""
    if suite.adapters:
        return Landmarks(suite.adapters, suite.is_students, suite.adapters)
    names = (path.name for path in suite.root.iterdir() if path.name != suite.place.split("/")[0])
    modules = [path for path in sorted(suite.given) if path.endswith(".py") and not path.endswith("__.py")]
    return Landmarks((suite.place, *sorted(names)), suite.is_students, modules, is_needed=False)


def solution(folder: Path, suite: Suite) -> SuiteReference:
    """What is to pass the tests.

    Raises:
        KataError: it does not lie there.
    """
    found = trees.alone(folder, _wanted(suite)).files
    if found is None:
        raise KataError(
            f"--solution {paths.shown(folder)}: {suite.adapters[0]} is not in it; name its folder"
        )
    return SuiteReference(suite.own(found), is_solution=True)


def _submission(tree: Tree, suite: Suite) -> Submission:
    own = suite.own(tree.files or {})
    if tree.doubt:
        problem = tree.doubt
    elif suite.adapters and own.keys().isdisjoint(suite.adapters):
        problem = f"{suite.adapters[0]} is not in it"
    else:
        problem = "holds no files" if tree.files is None else suite.unused(own)
    if problem:
        return Submission(tree.student, {}, {ANSWER: problem}, (problem, *tree.notes), late=tree.late)
    missing = [path for path in suite.adapters if path not in own]
    notes = listed("not in it, and so as you hand it out", missing) + tuple(tree.notes)
    return Submission(tree.student, {ANSWER: packed(own)}, {}, notes, late=tree.late)


def _expect_some(work: Classwork, suite: Suite) -> None:
    """Raises KataError where nothing of anybody's would count, as where --adapter was forgotten."""
    problems = [each.problems.get(ANSWER, "") for each in work.submissions]
    if not suite.adapters and problems and all(problems):
        raise KataError(f"{problems[0]}: name each file that students write with --adapter")
