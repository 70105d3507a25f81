"""Find the answer to an exercise in a folder, and load it as a module."""

import importlib
import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from grader.core.errors import KataError
from grader.core.packed import unpacked, written
from grader.core.sanitize import message_of
from grader.course import paths, project
from grader.course.catalog import load as load_catalog
from grader.course.catalog import unnumbered
from grader.course.exercise import Exercise


class DoesNotImport(Exception):
    """The answer raised while it was imported; holds what it raised."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(message_of(cause))
        self.cause = cause


@dataclass(frozen=True)
class Answers:
    """Where the answers under judgement are: a folder that mirrors `exercises/`, or one answer."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.exists():
            raise KataError(f"--answers {self.root}: there is no such file or folder; name one that exists")

    @property
    def is_one(self) -> bool:
        """Whether it is the answer to one exercise: a file, or the folder of a project."""
        return self.root.is_file() or any(self._is_project(e) for e in load_catalog().exercises)

    def _is_project(self, exercise: Exercise) -> bool:
        return exercise.is_project and unnumbered(self.root.name) == exercise.slug

    def path(self, exercise: Exercise) -> Path | None:
        """The file or folder that answers `exercise`, or None where this place holds none."""
        if self.root.is_file() or self._is_project(exercise):
            is_it = unnumbered(self.root.stem) == exercise.slug
            return self.root if is_it and self.root.is_dir() == exercise.is_project else None
        places = (self.root / exercise.relative, self.root / exercise.name)
        return next((place for place in places if _holds(place, exercise)), None) or self._older(exercise)

    def _older(self, exercise: Exercise) -> Path | None:
        """Its answer under a name of before, when numbers were a part of names."""
        for folder in (self.root / exercise.folder, self.root):
            for place in sorted(folder.glob(f"*_{exercise.name}")):
                if unnumbered(place.stem) == exercise.slug and _holds(place, exercise):
                    return place
        return None


def _holds(place: Path, exercise: Exercise) -> bool:
    return place.is_dir() if exercise.is_project else place.is_file()


def put(answer: bytes, exercise: Exercise, root: Path) -> Path:
    """Write an answer below `root`, where the learner knows it: feedback points there.

    A project finds the author's data in its folder.
    """
    place = root / exercise.relative
    place.parent.mkdir(parents=True)
    if not exercise.is_project:
        place.write_bytes(answer)
        return place
    place.mkdir()
    written({project.START: b"", **unpacked(answer)}, place)
    if exercise.data.is_dir():
        try:
            (place / project.DATA).symlink_to(exercise.data, target_is_directory=True)
        except OSError:  # on Windows not everybody may make links
            shutil.copytree(exercise.data, place / project.DATA)
    return place


class Project(ModuleType):
    """An answer of many files, which are imported when a suite names them; or a folder in it.

    So a file that does not import, or is missing, fails what needs it and nothing else.
    """

    def __setattr__(self, name: str, value: object) -> None:
        is_inside = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if is_inside and hasattr(value, "__path__"):
            value.__class__ = Project  # a folder that was imported: it holds files, too
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> ModuleType:
        place = Path(str(self.__file__)).parent / name
        is_there = place.with_suffix(".py").is_file() or (place / project.START).is_file()
        if name.startswith("_") or not is_there:
            raise AttributeError(f"there is no {name}.py", name=name, obj=self)
        try:
            return importlib.import_module(f"{self.__name__}.{name}")
        except (Exception, SystemExit) as broken:
            raise DoesNotImport(broken) from None


def forget(exercise: Exercise) -> None:
    """Take the answer from the modules that are imported."""
    was_there = sys.modules.pop(exercise.slug, None) is not None
    # To look at all names writes to each: a forked child would copy 4 MB, half of all that it copies.
    if was_there and exercise.is_project:
        for name in [n for n in sys.modules if n.startswith(f"{exercise.slug}.")]:
            del sys.modules[name]


def load(place: Path, exercise: Exercise) -> ModuleType:
    """Import the answer afresh, under its exercise's slug.

    The folder goes to the end of `sys.path`, so that spawned workers can import the module by
    name and no file in it can shadow a library. Whatever the answer raises while it is imported
    is raised here.
    """
    name = exercise.slug
    spec = importlib.util.spec_from_file_location(name, place / project.START if place.is_dir() else place)
    if spec is None or spec.loader is None:
        raise KataError(f"{paths.shown(place)} is no Python file; give it a name that ends in .py")
    folder = str(place.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    forget(exercise)
    module = importlib.util.module_from_spec(spec)
    if exercise.is_project:
        module.__class__ = Project
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        forget(exercise)
        raise
    return module
