"""What suites import is public, and what is public is imported: `__all__` says both."""

import ast
from collections.abc import Iterator
from pathlib import Path

from grader.authoring import reference
from grader.course import paths

SUITES = [file for tree in (paths.PUBLIC, paths.HIDDEN) for file in sorted(tree.rglob("*.py"))]
STATED = {(helper.module, helper.name) for helper in reference.helpers()}


def imported(file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a suite imports from the grader; "" for a whole module."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("grader."):
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if f"{a.name}.".startswith("grader."))


def test_suites_import_what_is_public() -> None:
    others = [
        f"{paths.shown(file)}: {module} {name}"
        for file in SUITES
        for module, name in imported(file)
        if (module, name) not in STATED
    ]
    assert not others, "in no `__all__` of grader.checks"


def test_what_is_public_is_used() -> None:
    unused = STATED - {found for file in SUITES for found in imported(file)}
    assert not unused, "no suite imports it: take it out of its `__all__`"
