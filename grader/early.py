"""Let `pytest --answers PATH` work for a PATH outside the clone.

pytest looks for its configuration before it knows our options, and takes PATH for a folder of tests:
it would search there and never load our plugin. Written as `--answers=PATH`, it is left alone. This
module is a pytest entry point of its own, because the plugin is loaded too late to see it.
"""

import sys

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Start over with the option in one piece, where pytest found no configuration."""
    if early_config.inipath is None and "--answers" in args[:-1]:
        place = args.index("--answers")
        joined = [*args[:place], f"--answers={args[place + 1]}", *args[place + 2 :]]
        sys.exit(pytest.main(joined))
