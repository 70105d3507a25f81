"""An instructor's folder: what a course sets, and who is in it. Exercises stay where `kata` has them from."""

from pathlib import Path

from grader.core import atomic_write
from grader.core.errors import KataError
from grader.course import paths, roster

COURSE = """\
# What this course sets, and how it grades: `kata` reads it in this folder and in all below it.
# Every verb tells of a line that it does not understand.

title = "Deep learning"

# Exercises of your own lie in this folder: `kata new e20_tuning low_rank_linear` begins one. Beside them are
# those of the sources: of the torchkata that `kata` belongs to, and of other courses' folders ("../shared").
sources = ["torchkata"]

[grading]
fine_print = 0.3   # of the points of an exercise, for its fine print; 0 for a first course
strict = false     # true: nothing counts but what passes the fine print, too
steps = 0          # points for each first step
rules = "gate"     # "share": a broken rule of the job costs its own check, and no more

# An assignment is a table like this one. Its name is what `--assignment` takes, and what gradebooks have.
# An exercise is in one assignment at most; what is in none is not set.
#
# [assignment.week1]
# title = "Week 1: tensors"
# exercises = ["e01/steps", "merge_heads", "e02"]   # a section's first steps, an exercise, a whole section
# extras = ["e01/ex20"]                             # weigh nothing: for who wants more
# points = 20                                       # of the whole; or { merge_heads = 3 } of single exercises
# due = 2026-11-20T23:59:00+01:00                   # with its zone
"""

README = """\
# A course with torchkata

`course.toml` says what is set, what that is worth and when it is due, and `roster.csv` who is in the course:
a row for each student. Exercises come from the torchkata that `kata` belongs to. This folder holds no copy of
them: an upgrade is one of torchkata alone. Your own lie here, in `exercises/`, `solutions/` and `tests/`.

    kata list                                     # the exercises that there are
    kata new e20_tuning low_rank_linear           # an exercise of your own: docs/authors.md of torchkata
    kata audit                                    # tries what is your own
    kata release ../kata-for-students             # what students get: all that is set, or --assignment week1
    kata grade submissions                        # into results/; --assignment week1 where only that is due
    kata report                                   # pages for the class and for each student
    kata export --format canvas --to canvas.csv   # --assignment week1 for its columns alone

`docs/instructors.md` of torchkata walks through a term. What holds students' names stays out of git, as
`.gitignore` says.
"""

IGNORED = """\
.kata/
/submissions/
/results/
/report/
/course/
/gradescope/
/similar.html
/roster.csv
*.db
/scores.*
/grades.csv
/canvas.csv
"""


def write(target: Path) -> None:
    """Write a course's folder to `target`, a new or empty one.

    Raises:
        KataError: `target` holds something, or cannot be written.
    """
    atomic_write.expect_room(target)
    texts = {
        ".gitignore": IGNORED,
        "README.md": README,
        roster.FILE: "student,name,email,aliases,section,extension\n",
        paths.FILE: COURSE,  # the last: it makes it a course
    }
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (target / name).write_text(text, "utf-8")
    except OSError as error:
        raise KataError(f"cannot write {target}: {error.strerror}; choose another folder") from None
