"""Whose a file or folder is, by the names that learning platforms give to what they hand out.

Canvas ("Download Submissions", a zip of loose files; `lib/content_zipper.rb` of instructure/canvas-lms):
`lovelaceada_12345_67890_work.zip`, which is the sortable name without all but letters and digits, the
user's id, the upload's id and the file's own name, to which Canvas adds `-1`, `-2` when the student hands
in the same name again. `lovelaceada_LATE_12345_67890_work.zip` came after the due date. Text entries are
`…_12345_text.html`, anonymous marking gives `anon_Ab1cD_67890_work.zip`.

Moodle ("Download all submissions", `mod/assign/classes/downloader.php` of moodle/moodle): a folder
`Ada Lovelace_1234567_assignsubmission_file_` for every student (newer versions leave out the last
underscore), or, not in folders, files `Ada Lovelace_1234567_assignsubmission_file_work.zip`.

GitHub Classroom (`gh classroom clone student-repos`): a folder `<assignment>-submissions` that holds a clone
`<assignment>-<user>` of every student.

nbgrader: `submitted/<student>/<assignment>/…`, where the exchange puts `timestamp.txt` beside the work.
"""

import re
from dataclasses import dataclass

from grader.classroom.submissions.io.archives import stem

SUBMITTED = "submitted"
"""nbgrader's own name for the folder of what was handed in."""
TIMESTAMP = "timestamp.txt"
"""nbgrader's own name for the file that tells when that was."""
_COURSE = frozenset({"source", "release", "autograded", "nbgrader_config.py", "gradebook.db"})

_CANVAS = re.compile(
    r"(?P<name>.+?)_(?:(?P<late>late)_)?(?P<user>\d+)_"
    r"(?:(?P<upload>\d+)_(?P<rest>.+)|(?P<entry>(?:text|link)\.html))",
    re.IGNORECASE | re.DOTALL,
)
_CANVAS_ANONYMOUS = re.compile(
    r"(?:(?P<late>late)_)?(?P<name>anon)_(?P<user>[A-Za-z0-9]{5})_"
    r"(?:(?P<upload>\d+)_(?P<rest>.+)|(?P<entry>(?:text|link)\.html))",
    re.IGNORECASE | re.DOTALL,
)
_MOODLE = re.compile(
    r"(?P<student>.+?)_assignsubmission_(?:file|onlinetext)(?:_(?P<rest>.*))?", re.IGNORECASE | re.DOTALL
)
_COPY = re.compile(
    r"(?P<name>.+?)(?:-(?P<again>\d{1,4})| ?\((?P<copy>\d{1,4})\))(?P<ending>\.\w+)", re.DOTALL
)


@dataclass(frozen=True)
class Origin:
    """Whose it is.

    Args:
        student: the student's name in results.
        own: the file's own name, as the student gave it; empty for a folder.
        late: whether it was handed in late, None where the platform does not tell.
        upload: files with a larger number were handed in later.
        platform: canvas, moodle, github, or empty for a plain name.
    """

    student: str
    own: str = ""
    late: bool | None = None
    upload: int = 0
    platform: str = ""


def of_file(name: str) -> Origin | None:
    """Whose a loose file is, or None where its name does not tell."""
    moodle = _MOODLE.fullmatch(name)
    if moodle and moodle["rest"]:
        return Origin(moodle["student"], moodle["rest"], platform="moodle")
    canvas = _CANVAS_ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name)
    if canvas:
        return Origin(
            f"{canvas['name']}_{canvas['user']}",
            canvas["rest"] or canvas["entry"],
            late=canvas["late"] is not None,
            upload=int((canvas["upload"] or "0")[:18]),
            platform="canvas",
        )
    return None


def of_folder(name: str, parent: str) -> Origin:
    """Whose a folder is; `parent` is the name of the folder around it."""
    moodle = _MOODLE.fullmatch(name)
    if moodle and not moodle["rest"]:
        return Origin(moodle["student"], platform="moodle")
    assignment = parent.removesuffix("-submissions")
    user = name.removeprefix(f"{assignment}-")
    if assignment != parent and user not in (name, ""):
        return Origin(user, platform="github")
    return Origin(name)


def of_archive(name: str, parent: str) -> Origin:
    """Whose an archive is: as of a file, or of a folder that has its name."""
    return of_file(name) or of_folder(stem(name), parent)


def original(name: str) -> tuple[str, int]:
    """A file's name before platforms and browsers numbered it, and its number: `a.py` and 2 of `a-2.py`."""
    number = 0
    while copy := _COPY.fullmatch(name):
        name = copy["name"] + copy["ending"]
        number += int(copy["again"] or copy["copy"])
    return name, number


def is_course(names: set[str]) -> bool:
    """Whether these are the entries of an nbgrader course, with what was handed in in a folder of its own."""
    return SUBMITTED in names and bool(names & _COURSE)
