"""Of a suite's own `addopts`, the options that decide how tests are found and which are run.

Others are for a person at a terminal, ask for plugins, or run tests in other processes.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iniconfig import IniConfig, ParseError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
        if name not in _KEPT:
            continue
        found.append(f"{name}={value or _next(words, place)}" if name.startswith("--") else name)
        found += [] if name.startswith("--") else [value if equals else _next(words, place)]
    return found


def _next(words: Sequence[str], place: int) -> str:
    return words[place + 1] if place + 1 < len(words) else ""


def _addopts(config: Path) -> list[str]:
    told: Any
    if config.suffix == ".toml":
        tool = tomllib.loads(config.read_text("utf-8")).get("tool", {}).get("pytest", {})
        told = tool.get("ini_options", tool).get("addopts", "")
    else:
        section = "tool:pytest" if config.name == "setup.cfg" else "pytest"
        told = IniConfig(str(config)).get(section, "addopts", "")
    return [str(word) for word in told] if isinstance(told, list) else shlex.split(str(told))
