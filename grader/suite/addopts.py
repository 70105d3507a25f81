"""Of a suite's own `addopts`, the options that decide how tests are found and which are run.

Others are for a person at a terminal, ask for plugins, or run tests in other processes.
"""

import shlex
from pathlib import Path
from typing import Any

from iniconfig import IniConfig, ParseError

from grader.core.toml import tomllib

_KEPT = ("--import-mode", "-m")


def kept(config: Path) -> list[str]:
    """The options of a file with pytest's settings that count here, as arguments.

    None of a file that cannot be read: pytest will say so.
    """
    try:
        words = _addopts(config)
    except (ValueError, AttributeError, ParseError):
        return []
    found = []
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in _KEPT:
            found += [name, *([value] if equals else words[place + 1 : place + 2])]
    return found


def _addopts(config: Path) -> list[str]:
    told: Any
    if config.suffix == ".toml":
        tool = tomllib.loads(config.read_text("utf-8")).get("tool", {}).get("pytest", {})
        told = tool.get("ini_options", tool).get("addopts", "")
    else:
        section = "tool:pytest" if config.name == "setup.cfg" else "pytest"
        told = IniConfig(str(config)).get(section, "addopts", "")
    return [str(word) for word in told] if isinstance(told, list) else shlex.split(str(told))
