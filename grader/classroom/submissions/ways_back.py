"""Under which names feedback goes back to students: those that Canvas and Moodle know their work by.

Moodle (*Upload multiple feedback files in a zip*) takes a folder for each student, called as in its download
(`importziplib.php` of assignfeedback_file). Canvas (*Upload submissions*) takes a file for each, by the
student's number and that of a file that the student handed in (`infer_comment_context_from_filename`).
"""

from pathlib import Path

from grader.classroom.submissions.io.folders import escaped
from grader.classroom.submissions.origins import origins
from grader.classroom.submissions.owners import student_of
from grader.classroom.submissions.platforms import Origin
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import NOBODY, Roster

_PAGE = "feedback.html"


def ways_back(download: Path, catalog: Catalog, roster: Roster = NOBODY) -> dict[str, list[str]]:
    """What a student's page is to be called in the zip, by student as results call them.

    Who handed in as two on the platform gets it as both; who handed in no file to Canvas is not among them.

    Raises:
        KataError: nothing in the download is named as Canvas or Moodle do, or it cannot be read.
    """
    shown = escaped(paths.shown(download))
    there = sorted(origins(download, catalog), key=lambda origin: origin.upload)
    newest = {(student_of(one, roster), one.student): way for one in there if (way := _way(one))}
    found: dict[str, list[str]] = {}
    for (student, _), way in sorted(newest.items()):
        found.setdefault(student, []).append(way)
    if not found:
        raise KataError(f"nothing in {shown} is named as Canvas or Moodle do; name what you downloaded there")
    return found


def _way(origin: Origin) -> str:
    if origin.platform == "moodle":
        return f"{origin.student}_assignsubmission_file_/{_PAGE}"
    return f"{origin.student}_{origin.upload}_{_PAGE}" if origin.upload else ""
