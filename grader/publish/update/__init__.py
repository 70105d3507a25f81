"""`kata update`: new statements and starts come in, and answers stay."""

import tempfile
from pathlib import Path

from grader.core.errors import KataError
from grader.course import paths
from grader.publish import learners_folder
from grader.publish.update import folder, repository
from grader.records import progress


def run(course: Path | None) -> list[str]:
    """Bring a new version of the course into the folder around us; what came of it, for printing.

    Args:
        course: the folder of a release or of a clone; without one a clone is asked where it is from, and
            a folder of `kata init` takes what comes with the package.

    Raises:
        KataError: there is nothing to update from, or git cannot do it.
    """
    root = paths.ROOT
    if not paths.has_exercises(root) or root == paths.PACKAGED:
        raise KataError("there are no exercises of yours here; go to the folder that holds them")
    if course is not None:
        report = folder.update(root, course.resolve(), str(course))
    elif paths.is_clone():
        if not repository.is_clone(root):
            raise KataError(
                "this folder is no clone by git; `kata update --from DIR` takes a release, unpacked"
            )
        report = repository.update(root)
    else:
        learners_folder.expect_starts()
        with tempfile.TemporaryDirectory(prefix="kata-update-") as shipped:
            learners_folder.fill(Path(shipped))
            report = folder.update(root, Path(shipped), "the torchkata that is installed")
    if report.is_new:
        progress.keep("states", {})
        progress.lose("the course was updated")
    return list(report.lines())
