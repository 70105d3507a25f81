"""Zip this clone with `setup.sh` and `run_autograder`, for Gradescope's "Configure Autograder".

    python integrations/gradescope/bundle.py [--only SLUG|SECTION]... [--assignment NAME] [OUT.zip]

Run in the folder of a course, it takes the course along: its `course.toml`, and exercises of its own. The
specifications ask for both scripts at the root of the archive:
https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

import argparse
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from grader.classroom.cli.instructor import asked_for  # noqa: E402
from grader.core.errors import KataError  # noqa: E402
from grader.course import paths, sources  # noqa: E402
from grader.course.catalog import load  # noqa: E402

SCRIPTS = ("setup.sh", "run_autograder")
FILES = (
    *("conftest.py", "pyproject.toml", "constraints.txt", "README.md", "LICENSE", "tests/__init__.py"),
    paths.FILE,
)
FOLDERS = ("grader", "exercises", "solutions", "tests/public", "tests/hidden")


def places() -> dict[Path, str]:
    """What goes into the archive, and under which name: this clone, and the course around us.

    Raises:
        KataError: the course takes exercises from elsewhere.
    """
    found = {ROOT: "torchkata"}
    if (paths.COURSE / paths.FILE).is_file():
        found.setdefault(paths.COURSE, "course")
    for root in sources.roots():
        if root not in found:
            raise KataError(f"a bundle holds torchkata and the course, and not {root}; copy its exercises")
    return found


def files(root: Path) -> Iterator[Path]:
    """What grading needs of a clone or a course."""
    yield from (root / name for name in FILES if (root / name).is_file())
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".pyc":
                yield file


def bundle(target: Path, only: list[str] | None) -> None:
    """Write the archive."""
    load().select(only)  # or there is no such exercise
    whole = places()
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in SCRIPTS:
            script = zipfile.ZipInfo(name)
            script.create_system, script.external_attr = 3, 0o100755 << 16
            archive.writestr(script, (HERE / name).read_bytes())
        if only:
            archive.writestr("only", "\n".join(only))
        for root, place in whole.items():
            for file in files(root):
                archive.write(file, Path(place) / file.relative_to(root))


def main() -> int:
    """Parse, bundle, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only",
        metavar="SLUG|SECTION",
        action="append",
        help="what this assignment is about; repeat it for more (default: all)",
    )
    parser.add_argument("--assignment", metavar="NAME", help="what course.toml sets under this name")
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "gradescope.zip")
    given = parser.parse_args()
    try:
        only = asked_for(given.only, given.assignment)
        bundle(given.out, only)
    except KataError as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"bundle: cannot write {given.out}: {error.strerror}", file=sys.stderr)
        return 2
    points = sum(exercise.points for exercise in load().select(only))
    print(f"{given.out}: upload it as the autograder; the assignment has {points:g} autograder points")
    return 0


if __name__ == "__main__":
    sys.exit(main())
