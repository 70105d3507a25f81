"""The map of the package names each module once."""

import re

from grader import paths

PACKAGE = paths.ROOT / "grader"


def test_each_module_is_on_the_map_once():
    text = (PACKAGE / "README.md").read_text("utf-8")
    named = [name.rstrip("/") for name in re.findall(r"`(\w+/?)`", text)]
    modules = {f.stem for f in PACKAGE.glob("*.py")} | {f.parent.name for f in PACKAGE.glob("*/__init__.py")}
    assert modules - {"__init__", "__main__"} <= set(named)
    assert not {name for name in named if named.count(name) > 1}
