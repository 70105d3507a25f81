"""What a repository is installed as: code asks `importlib.metadata` for its own version."""

import re
from pathlib import Path
from typing import Any

from grader.core.toml import tomllib


def written(root: Path, home: Path) -> bool:
    """Write what `pyproject.toml` says of the project below `home`, as an installer does.

    False where it says nothing. Format: PyPA, Recording installed projects.
    """
    try:
        told: Any = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
        name, version = str(told["name"]), str(told.get("version", "0"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    if not re.fullmatch(r"[\w.-]{1,80}", name) or not re.fullmatch(r"[\w.+!-]{1,40}", version):
        return False
    folder = home / f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    return True
