"""What suites import is public, and what is public is imported: `__all__` says both."""

import ast
from collections.abc import Iterator
from pathlib import Path

from grader.course import paths

CHECKS = paths.ROOT / "grader" / "checks"
SUITES = [file for tree in (paths.PUBLIC, paths.HIDDEN) for file in sorted(tree.rglob("*.py"))]


def stated(file: Path) -> list[str]:
    """The names in a module's `__all__`; none where it has none."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def public() -> set[tuple[str, str]]:
    """Module and name of everything in an `__all__` below grader.checks."""
    found = set()
    for file in CHECKS.rglob("*.py"):
        parts = file.relative_to(paths.ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found |= {(module, name) for name in stated(file)}
    return found


def imported(file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a suite imports from the grader; "" for a whole module."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("grader."):
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if f"{a.name}.".startswith("grader."))


def test_suites_import_what_is_public() -> None:
    allowed = public()
    others = {
        f"{paths.shown(file)}: {module} {name}"
        for file in SUITES
        for module, name in imported(file)
        if (module, name) not in allowed
    }
    assert not others, "in no `__all__` of grader.checks"


def test_what_is_public_is_used() -> None:
    used = {found for file in SUITES for found in imported(file)}
    assert not sorted(public() - used), "no suite imports it: take it out of its `__all__`"
