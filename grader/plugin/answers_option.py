"""What must be done before pytest loads our plugin; a pytest entry point of its own.

It lets `pytest --answers PATH` work for a PATH outside the clone. pytest looks for its configuration before
it knows our options, and takes PATH for a folder of tests: it would search there and never load our plugin.
Written as `--answers=PATH`, it is left alone.
"""

import gc
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

# pytest marks what an installed package holds, and knows not what an editable one does: it would warn.
pytest.register_assert_rewrite("grader.plugin.gpu_process", "grader.plugin.leftovers")


@contextmanager
def no_garbage_collected() -> Iterator[None]:
    """Do not look for garbage where nearly all that is made is kept, as where modules are imported."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, args: list[str]
) -> Generator[None, None, None]:
    """Start over with the option in one piece, where pytest found no configuration; else import torch."""
    if early_config.inipath is None and "--answers" in args[:-1]:
        place = args.index("--answers")
        joined = [*args[:place], f"--answers={args[place + 1]}", *args[place + 2 :]]
        sys.exit(pytest.main(joined))
    with no_garbage_collected():
        return (yield)
