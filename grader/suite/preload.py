"""What the warm parent imports before any submission, so that none of them waits for it."""

import ast
import contextlib
import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import torch

from grader.core.packed import Files
from grader.engine._compat import COMPILER
from grader.engine.quiet import quiet
from grader.suite import pytest_run

_OPTIMIZERS = b"optim"
_TALKING = ("torch.distributed", "torch.multiprocessing", "socket", "socketserver", "http", "urllib")
"""Modules by which processes talk over a network, if only with each other."""


def warm_up(files: Files) -> None:
    """Import what these files import, as far as it is installed here, and none of it is one of them."""
    torch.set_num_threads(1)
    own = {path.split("/")[0].removesuffix(".py") for path in files}
    own |= {path.split("/")[-1].removesuffix(".py") for path in files}
    with quiet():
        for name in sorted(imported(files)):
            if name.split(".")[0] not in own:
                _import(name)
        if any(_OPTIMIZERS in content for path, content in files.items() if path.endswith(".py")):
            _import(COMPILER)  # the first optimizer would do so: half a second
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


def talks(files: Files) -> bool:
    """Whether what these files import talks over a network: to make one takes longer than many tests."""
    return any(f"{name}.".startswith(f"{talking}.") for name in imported(files) for talking in _TALKING)


def _import(name: str) -> None:
    places = list(sys.path)
    with contextlib.suppress(Exception, SystemExit):
        if find_spec(name.split(".")[0]):
            importlib.import_module(name)
    sys.path[:] = places
