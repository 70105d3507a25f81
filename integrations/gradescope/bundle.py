"""Zip this clone with `setup.sh` and `run_autograder`, for Gradescope's "Configure Autograder".

    python integrations/gradescope/bundle.py [--only SLUG|SECTION]... [OUT.zip]

The specifications ask for both scripts at the root of the archive:
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

from grader.core.errors import KataError  # noqa: E402
from grader.course.catalog import load  # noqa: E402

SCRIPTS = ("setup.sh", "run_autograder")
FILES = ("conftest.py", "pyproject.toml", "constraints.txt", "README.md", "LICENSE", "tests/__init__.py")
FOLDERS = ("grader", "exercises", "solutions", "tests/public", "tests/hidden")


def files() -> Iterator[Path]:
    """What grading needs of this clone."""
    yield from (ROOT / name for name in FILES if (ROOT / name).is_file())
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".pyc":
                yield file


def bundle(target: Path, only: list[str] | None) -> None:
    """Write the archive."""
    load().select(only)  # or there is no such exercise
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in SCRIPTS:
            script = zipfile.ZipInfo(name)
            script.create_system, script.external_attr = 3, 0o100755 << 16
            archive.writestr(script, (HERE / name).read_bytes())
        if only:
            archive.writestr("only", "\n".join(only))
        for file in files():
            archive.write(file, Path("torchkata") / file.relative_to(ROOT))


def main() -> int:
    """Parse, bundle, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only",
        metavar="SLUG|SECTION",
        action="append",
        help="what this assignment is about; repeat it for more (default: all)",
    )
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "gradescope.zip")
    given = parser.parse_args()
    try:
        bundle(given.out, given.only)
    except KataError as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"bundle: cannot write {given.out}: {error.strerror}", file=sys.stderr)
        return 2
    points = sum(exercise.points for exercise in load().select(given.only))
    print(f"{given.out}: upload it as the autograder; the assignment has {points:g} autograder points")
    return 0


if __name__ == "__main__":
    sys.exit(main())
