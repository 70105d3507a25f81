"""Whether tests are still run as they were before any of the student's code: looked at before each is told.

The student's code shares the process, so that one who knows pytest and this package can still lie; the
record says so. What is found out here is what people try first.
"""

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NoReturn

import pytest

from grader.classroom.suite.preload import imported
from grader.classroom.suite.values import Values
from grader.classroom.suite.warm_suite import WarmSuite
from grader.core.packed import Files
from grader.engine._compat import REWRITING
from grader.engine.integrity import lookout, words
from grader.engine.integrity.guard import Guard, space_of_module
from grader.engine.integrity.spaces import Look

_ROOTS = ("grader.classroom.suite.child", "grader.engine.integrity.guard")
"""Where judging starts."""

_HOOKS = (
    "pytest_fixture_setup",
    "pytest_pyfunc_call",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_runtestloop",
)
"""By these a test is run and its outcome found."""
_OUTCOMES = (pytest.CallInfo, pytest.CollectReport, pytest.ExceptionInfo, pytest.TestReport)
"""The classes of what says how a test went."""


def guard_of(suite: Files) -> Guard:
    """What is remembered before any student's code: this package, pytest, and what the suite's files name."""
    sources = [content for path, content in suite.items() if path.endswith(".py")]
    names = set().union(*map(_names, sources))
    modules = {*imported(suite)}
    modules |= {f"{module}.{name}" for module in modules for name in names}
    return Guard({}, _ROOTS, sorted(modules), names)


def _names(source: bytes) -> set[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return found | {node.name for node in nodes if isinstance(node, ast.alias)}


class Watch:
    """A plugin of pytest that remembers how tests are run, and looks whether that has changed.

    Args:
        suite: what is judged with; its files lie below `root`.
        found: is told what was changed, and does not return.
    """

    def __init__(self, suite: WarmSuite, root: Path, found: Callable[[str], NoReturn]) -> None:
        self._guard = suite.guard
        self._suite = suite.laid_in(root)
        self._found = found
        self._values = Values(self._suite.__contains__)
        self._looks: list[_Look] = [_Laid(root, suite.files), _Classes()]
        self._changed: lookout.Changed = lambda: None
        self._rewriting: object = None

    def begin(self, *ours: object) -> None:
        """Remember these objects, and all that the guard knows, as they are now."""
        looks = self._guard.looks("") if self._guard else ()
        self._changed = lookout.remember(looks, ours, strict=True)

    def look(self) -> None:
        """Say what has been changed, if anything has."""
        told = self._changed()
        if told is None:
            name = next(filter(None, (look.broken() for look in self._looks)), None)
            told = name and f"replaces {name}"
        if told is None:
            name = self._values.lying()
            told = name and f"makes == of its own class lie ({name})"
        if told:
            self._found(told)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """The suite's conftest is there, and none of the student's code unless that imports it."""
        self._looks += _Hooks(session.config, self._is_of_suite), self._modules()
        importers = (each for each in sys.meta_path if type(each).__module__ == REWRITING)
        self._rewriting = next(importers, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The student's code was imported: tests are made after it."""
        for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
            loader = getattr(module.__spec__, "loader", None)
            if loader is not self._rewriting:  # somebody has put it there, or makes modules by that name
                self._found(f"replaces {module.__name__}")
        self._looks += self._modules(), _Tests(session.items)

    def _modules(self) -> Look:
        return Look(
            space_of_module(module) for module in list(sys.modules.values()) if self._is_of_suite(module)
        )

    def _is_of_suite(self, plugin: object) -> bool:
        return isinstance(plugin, ModuleType) and vars(plugin).get("__file__") in self._suite


class _Laid:
    """The suite's files. Whoever writes to one, or puts another in its place, cannot set its ctime back."""

    def __init__(
        self, root: Path, files: Iterable[str], stat: Callable[[str], os.stat_result] = os.stat
    ) -> None:
        self._stat = stat
        self._files = tuple((file, str(root / file)) for file in files)
        self._then = tuple(map(self._state, self._files))

    def _state(self, file: tuple[str, str]) -> tuple[int, ...]:
        try:
            found = self._stat(file[1])
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def broken(self) -> str | None:
        pairs = zip(self._files, self._then, strict=True)
        return next((file[0] for file, then in pairs if self._state(file) != then), None)


class _Classes:
    """What the classes of outcomes hold: a name that is new to one hides what its instances have."""

    def __init__(self) -> None:
        classes = {cls for kind in _OUTCOMES for cls in kind.__mro__[:-1]}
        self._then = tuple((cls, dict(vars(cls))) for cls in classes)

    def broken(self) -> str | None:
        for cls, then in self._then:
            now = vars(cls)
            for name in sorted(then.keys() | now.keys()):
                if then.get(name) is not now.get(name):
                    return f"{cls.__module__}.{cls.__qualname__}.{name}"
        return None


class _Hooks:
    """Who is called for pytest's hooks; a conftest of the suite may come later, when its folder is read."""

    def __init__(self, config: pytest.Config, is_of_suite: Callable[[object], bool]) -> None:
        self._config = config
        self._is_of_suite = is_of_suite
        self._then = {name: tuple(self._called(name)) for name in _HOOKS}

    def _called(self, name: str) -> Iterator[tuple[object, ...]]:
        for hook in getattr(self._config.hook, name).get_hookimpls():
            yield (hook.plugin, hook.function, *_parts(hook.function))

    def broken(self) -> str | None:
        return next((name for name in _HOOKS if not self._same(name)), None)

    def _same(self, name: str) -> bool:
        now, then = list(self._called(name)), self._then[name]
        kept = [hook for hook in now if any(_same(hook, known) for known in then)]
        return len(kept) == len(then) and all(hook in kept or self._is_of_suite(hook[0]) for hook in now)


class _Tests:
    """The functions that tests call."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = tuple(items)
        self._then = tuple(map(self._made_of, self._items))

    def _made_of(self, item: pytest.Item) -> tuple[object, ...]:
        function = getattr(item, "obj", None)
        function = getattr(function, "__func__", function)
        return (type(item), function, *_parts(function))

    def broken(self) -> str | None:
        pairs = zip(self._items, self._then, strict=True)
        return next((item.name for item, then in pairs if not _same(self._made_of(item), then)), None)


_Look = Look | _Laid | _Classes | _Hooks | _Tests


def _parts(function: object) -> tuple[object, ...]:
    return words.parts(function) if isinstance(function, FunctionType) else ()


def _same(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
