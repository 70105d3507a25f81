"""Private names of pytest, torch and CPython that the engine needs, each under a name of ours.

Tried with pytest 8.4 and 9.2, torch 2.11 and 2.13, and Python 3.11.

pytest's own entry point collects and runs in one go. The engine collects in a parent and runs single items in
forked children, which pytest offers no public way to do: for that its range in `pyproject.toml` is bounded.
"""

import sys
from collections.abc import Callable, Collection, Sequence

import pytest
from _pytest.config import _prepareconfig
from _pytest.runner import runtestprotocol

COMPILER = "torch._dynamo"
"""Takes half a second to import, and more."""
REWRITING = "_pytest.assertion.rewrite"
"""Where the importer is defined that rewrites asserts."""
WATCHED = (
    "torch.utils._python_dispatch",
    "torch.utils._pytree",
    "_pytest.runner",
    "_pytest.python",
    "_pytest.outcomes",
)
"""Private modules that checks are run by, and values compared."""
KNOWN = sys.implementation.name == "cpython" and sys.version_info < (3, 14)
"""Whether this interpreter's objects are known to lie as they are read here; else, names are compared."""
IN_USE, KEYS = 2, 4
"""Words of a `PyDictObject`: how many keys it holds, and where they are (Python 3.10 to 3.13)."""


def configured(arguments: Sequence[str]) -> pytest.Config:
    """pytest, set up as by these arguments of its command line."""
    return _prepareconfig(list(arguments))


def start(config: pytest.Config) -> pytest.Session:
    """Have the plugins configure themselves, and open a session."""
    config._do_configure()
    return pytest.Session.from_config(config)


def fixtures_of(item: pytest.Function) -> tuple[Collection[str], Collection[str]]:
    """The fixtures that a test asks for, by itself or by marks; and of them its function's arguments."""
    return item._fixtureinfo.initialnames, item._fixtureinfo.argnames


def home_of(fixture: str, item: pytest.Function) -> str:
    """The module that defines what a test gets for a fixture."""
    defined = item._fixtureinfo.name2fixturedefs.get(fixture, ())
    return defined[-1].func.__module__ if defined else ""


def run_alone(item: pytest.Item, following: pytest.Item | None) -> list[pytest.TestReport]:
    """Run one test by pytest's protocol, and tear all down after it that the following one does not use."""
    return runtestprotocol(item, log=False, nextitem=following)


def is_wrapped(function: Callable[..., object]) -> bool:
    """Whether the compiler has put a function of its own in the place of one of torch's."""
    return hasattr(function, "_torchdynamo_orig_callable")
