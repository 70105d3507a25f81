"""What the warm parent imports before any submission, so that none of them waits for it."""

import ast
import contextlib
import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec

import numpy as np
import torch

from grader.classroom.suite import pytest_run
from grader.core.packed import Files
from grader.engine._compat import COMPILER
from grader.engine.quiet import quiet

_OPTIMIZERS = b"optim"
_TALKING = ("torch.distributed", "torch.multiprocessing", "socket", "socketserver", "http", "urllib")
"""Modules by which processes talk over a network, if only with each other."""


def names(files: Files) -> dict[str, list[str]]:
    """What these files import, by whole names, and what they can be imported as themselves; plain data."""
    imports = [*imported(files)]
    if any(_OPTIMIZERS in content for path, content in files.items() if path.endswith(".py")):
        imports.append(COMPILER)  # the first optimizer would import it: half a second
    parts = (path.split("/") for path in files)
    own = {part.removesuffix(".py") for path in parts for part in (path[0], path[-1])}
    return {"imports": sorted({*imports}), "own": sorted(own)}


def needed(*of: Mapping[str, Sequence[str]]) -> list[str]:
    """Of the `names` in several trees of files what is imported, and is none of them."""
    own = {name for each in of for name in each["own"]}
    imports = {name for each in of for name in each["imports"]}
    return sorted(name for name in imports if name.split(".")[0] not in own)


def warm_up(modules: Iterable[str]) -> None:
    """Import these, as far as they are installed here, and what every run of tests needs."""
    torch.set_num_threads(1)
    with quiet():
        for name in modules:
            _import(name)
        _compare_once()
        pytest_run.warm_up()


def _compare_once() -> None:
    """What the first comparison of tensors imports takes longer than most tests."""
    x = torch.zeros(2)
    torch.testing.assert_close(x, x.clone())
    np.testing.assert_allclose(x.numpy(), x.numpy())
    repr(x)


def imported(files: Files) -> Iterator[str]:
    """The modules that these files import, by their whole names."""
    for path, content in files.items():
        if not path.endswith(".py"):
            continue
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            for node in ast.walk(ast.parse(content)):
                if isinstance(node, ast.Import):
                    yield from (name.name for name in node.names)
                elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                    yield node.module


def talks(modules: Iterable[str]) -> bool:
    """Whether one of these talks over a network: to make one takes longer than many tests."""
    return any(f"{name}.".startswith(f"{talking}.") for name in modules for talking in _TALKING)


def _import(name: str) -> None:
    places = list(sys.path)
    with contextlib.suppress(Exception, SystemExit):
        if find_spec(name.split(".")[0]):
            importlib.import_module(name)
    sys.path[:] = places
