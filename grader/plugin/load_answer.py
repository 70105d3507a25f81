"""Find the answer to an exercise in a folder, and load it as a module."""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Exercise


@dataclass(frozen=True)
class Answers:
    """Where the answers under judgement are: a folder that mirrors `exercises/`, or one file."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.exists():
            raise KataError(f"--answers {self.root}: there is no such file or folder; name one that exists")

    def path(self, exercise: Exercise) -> Path | None:
        """The file that answers `exercise`, or None where this place holds none."""
        if self.root.is_file():
            return self.root if self.root.stem in (exercise.stem, exercise.slug) else None
        for file in (self.root / exercise.relative, self.root / f"{exercise.stem}.py"):
            if file.is_file():
                return file
        return None


def load(file: Path, exercise: Exercise) -> ModuleType:
    """Import the answer afresh, under its exercise's stem.

    The folder goes to the end of `sys.path`, so that spawned workers can import the module by
    name and no file in it can shadow a library. Whatever the answer raises while it is imported
    is raised here.
    """
    name = exercise.stem
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise KataError(f"{paths.shown(file)} is no Python file; give it a name that ends in .py")
    folder = str(file.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
