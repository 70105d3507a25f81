"""The map of the package names each room once."""

import re

from grader.course import paths

PACKAGE = paths.ROOT / "grader"


def test_each_package_is_on_the_map_once():
    text = (PACKAGE / "README.md").read_text("utf-8")
    table = "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("|"))
    named = re.findall(r"`(\w+)`", table)
    rooms = {f.parent.name for f in PACKAGE.glob("*/__init__.py")}
    assert sorted(named) == sorted(rooms)


def test_only_rooms_stand_beside_each_other():
    assert {f.stem for f in PACKAGE.glob("*.py")} == {"__init__", "__main__"}
