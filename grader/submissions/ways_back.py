"""Under which names feedback goes back to students: those that Canvas and Moodle know their work by.

Moodle (*Upload multiple feedback files in a zip*) takes a folder for each student, called as in its download
(`importziplib.php` of assignfeedback_file). Canvas (*Upload submissions*) takes a file for each, by the
student's number and that of a file that the student handed in (`infer_comment_context_from_filename`).
"""

from contextlib import ExitStack
from pathlib import Path

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import NOBODY, Roster
from grader.submissions.class_folder import safe_name, top_of
from grader.submissions.io import archives
from grader.submissions.io.folders import Refused, escaped, why
from grader.submissions.owners import parts_in, unwrapped
from grader.submissions.platforms import Origin

_PAGE = "feedback.html"


def ways_back(download: Path, catalog: Catalog, roster: Roster = NOBODY) -> dict[str, str]:
    """What a student's page is to be called in the zip, by student as results call them.

    Who handed in no file to Canvas is not among them.

    Raises:
        KataError: nothing in the download is named as Canvas or Moodle do, or it cannot be read.
    """
    shown = escaped(paths.shown(download))
    try:
        with top_of(download) as top, ExitStack() as stack:
            inside, parent = top, download.name
            if isinstance(top, archives.Unpacked):
                inside, parent = unwrapped(top, archives.stem(download.name), catalog, stack)
            origins = [part.origin for part in parts_in(inside, parent, [])]
    except (Refused, OSError) as refused:
        raise KataError(f"{shown} {why(refused)}; name the download of Canvas or Moodle") from None
    origins.sort(key=lambda origin: origin.upload)
    found = {roster.id_of(safe_name(one.student)): way for one in origins if (way := _way(one))}
    if not found:
        raise KataError(f"nothing in {shown} is named as Canvas or Moodle do; name what you downloaded there")
    return found


def _way(origin: Origin) -> str:
    if origin.platform == "moodle":
        return f"{origin.student}_assignsubmission_file_/{_PAGE}"
    return f"{origin.student}_{origin.upload}_{_PAGE}" if origin.upload else ""
