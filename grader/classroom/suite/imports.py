"""How a student's modules are imported: one that does not end is known by its name, and not begun again.

Tests are run by several processes where something comes in the way; each would wait for the same module.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any

from grader.classroom.suite import seeds
from grader.classroom.suite.warm_suite import WarmSuite
from grader.core.timeout import TooSlow


class Imports:
    """A finder of the student's modules, which lie below `root` and are none of the suite's.

    Args:
        tell: is told of each module as it begins, and as it has ended.
        endless: modules that are known not to end.
    """

    def __init__(
        self, suite: WarmSuite, root: Path, tell: Callable[..., None], endless: Collection[str] = ()
    ) -> None:
        self._suite = suite.laid_in(root)
        self._root = root
        self._seconds = suite.seconds
        self._tell = tell
        self._endless = {*endless}

    def install(self) -> None:
        """Be asked for every module from now on, before anybody else is."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a student's module; None for any other."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or not self._is_students(spec.origin):
            return None
        if name in self._endless:
            raise TooSlow(self._seconds)
        loader: Any = spec.loader
        loader.exec_module = partial(self._run, name, loader.exec_module)
        return spec

    def _is_students(self, file: str | None) -> bool:
        return file is not None and file not in self._suite and Path(file).is_relative_to(self._root)

    def _run(self, name: str, run: Callable[[ModuleType], None], module: ModuleType) -> None:
        began, ends = monotonic(), True
        self._tell(importing=name)
        try:
            with seeds.kept():
                run(module)
        except TooSlow:
            ends = monotonic() - began < self._seconds  # else, others have taken the time
            if not ends:
                self._endless.add(name)
            raise
        finally:
            if ends:
                self._tell(imported=name)
