"""Which tests a suite has, by the instructor's own copy, and what they are worth; kept among the results.

An exercise is a file of tests, its checks are the tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from grader.classroom.suite.suite import TESTS
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.protocol.check import CheckSpec
from grader.records.records import files, read_json

FILE = ".suite.json"


@dataclass(frozen=True, eq=False)
class TestFile:
    """A file of tests. `points` has what each is worth, by its id; a test that lacks something earns none.

    `suspects` has what stopped a test before any of the student's code ran, as `everybody.spot` puts it, and
    `faults` why nobody can pass one: it earns none either.
    """

    path: str
    slug: str
    checks: tuple[CheckSpec, ...]
    points: Mapping[str, float] = field(default_factory=dict)
    suspects: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)

    __test__ = False

    @property
    def worth(self) -> float:
        """The points of all tests that can be judged."""
        return round(sum(self.points.get(c.id, 1.0) for c in self.checks if not self.why_not(c)), 4)

    def why_not(self, check: CheckSpec) -> str:
        """Why a test counts for nobody; "" where it counts."""
        return check.lacks or self.faults.get(check.id, "")


@dataclass(frozen=True)
class Inventory:
    """The tests of a suite, file by file, as they were collected from `folder` when it had this digest.

    `skipped` has the files that are skipped as wholes, and why.
    """

    name: str
    folder: str
    digest: str
    files: tuple[TestFile, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @cached_property
    def catalog(self) -> Catalog:
        """The suite as a section of a catalog, for all that reads results."""
        exercises = (_exercise(self.name, order, file) for order, file in enumerate(self.files, start=1))
        return Catalog((Section(self.name, self.title or self.name, tuple(exercises)),))

    def to_json(self) -> dict[str, Any]:
        files = [{**vars(file), "checks": [vars(check) for check in file.checks]} for file in self.files]
        told = {"name": self.name, "folder": self.folder, "digest": self.digest}
        return {**told, "files": files, "skipped": dict(self.skipped), "title": self.title}


def kept(results: Path) -> Inventory | None:
    """What a folder of results knows of its suite; None where it is of exercises, or damaged."""
    data: Any = read_json(results / FILE)
    try:
        files = tuple(
            TestFile(**{**file, "checks": tuple(CheckSpec(**check) for check in file["checks"])})
            for file in data["files"]
        )
        return Inventory(data["name"], data["folder"], data["digest"], files, data["skipped"], data["title"])
    except (TypeError, KeyError):
        return None


def catalog_of(results: Path) -> Catalog:
    """What the results in a folder are of: a suite's tests, else the exercises of the course here."""
    tests = kept(results)
    return load() if tests is None else tests.catalog


def expect_only(results: Path, folder: Path | None) -> None:
    """Raises KataError where a folder has results of anything but the suite there; None: of exercises."""
    tests = kept(results)
    if tests is None:
        other = "exercises" if folder is not None and files(results) else ""
    else:
        other = f"the suite in {tests.folder}" if str(folder) != tests.folder else ""
    if other:
        raise KataError(f"{paths.shown(results)} holds results of {other}; choose another folder with --out")


def listed(name: str, folder: str, digest: str, checks: Mapping[str, Sequence[CheckSpec]]) -> Inventory:
    """The inventory of the tests of each file."""
    skipped = {path: own[0].lacks or "" for path, own in checks.items() if own and not own[0].id}
    run = {path: own for path, own in checks.items() if path not in skipped}
    slugs = {path: f"test_{slug}" if slug == name else slug for path, slug in _slugs([*run]).items()}
    files = (TestFile(path, slugs[path], tuple(own)) for path, own in run.items())
    return Inventory(name, folder, digest, tuple(files), skipped)


def _slugs(files: Sequence[str]) -> dict[str, str]:
    """What each file is called: `model` for `tests/test_model.py`; of those with one name, the folder too."""
    short = {path: PurePosixPath(path).stem.removeprefix("test_") for path in files}
    names = [*short.values()]
    return {
        path: name if names.count(name) == 1 else "_".join([*_folders(path), name])
        for path, name in short.items()
    }


def _folders(path: str) -> list[str]:
    return [folder for folder in PurePosixPath(path).parts[:-1] if folder not in TESTS]


def _exercise(assignment: str, order: int, file: TestFile) -> Exercise:
    return Exercise(
        slug=file.slug,
        section="",
        set_in=assignment,
        order=order,
        title=file.path,
        kind="build",
        path="core",
        points=file.worth,
        difficulty=1,
        needs=(),
        concepts=(),
        hints=(),
        reading="",
    )
