"""The map of the package names each room once."""

import re

from grader.course import paths

PACKAGE = paths.ROOT / "grader"


def test_each_package_is_on_the_map_once():
    text = (PACKAGE / "README.md").read_text("utf-8")
    whole, classroom = (rooms_in(part) for part in text.split("| in `classroom` |"))
    assert sorted([*whole, "classroom"]) == sorted(f.parent.name for f in PACKAGE.glob("*/__init__.py"))
    assert sorted(classroom) == sorted(f.parent.name for f in PACKAGE.glob("classroom/*/__init__.py"))


def rooms_in(text):
    """What the first column of a table names."""
    table = "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("|"))
    return re.findall(r"`(\w+)`", table)


def test_only_rooms_stand_beside_each_other():
    assert {f.stem for f in PACKAGE.glob("*.py")} == {"__init__", "__main__"}
