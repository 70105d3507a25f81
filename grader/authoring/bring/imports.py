"""Imports of a program's own modules, made relative: an answer is a package, of whatever name."""

import ast
import re
from collections.abc import Collection, Mapping

from grader.core.errors import KataError
from grader.course import project


def own(program: Collection[str]) -> set[str]:
    """The modules and packages at the top of a program, by name."""
    sources = {name for name in program if name.endswith(".py") and name != project.START}
    return {name.partition("/")[0].removesuffix(".py") for name in sources}


def all_relative(program: Mapping[str, str], modules: Collection[str], package: str) -> dict[str, str]:
    """Files with each import of `modules` made relative; `package` is what the whole may be called itself.

    Raises:
        KataError: a file is no Python, or an import has another form.
    """
    return {
        name: _relative(name, text, modules, package) if name.endswith(".py") else text
        for name, text in program.items()
    }


def _relative(name: str, text: str, modules: Collection[str], package: str) -> str:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise KataError(f"{name}:{error.lineno} is no Python: {error.msg}") from None
    lines, dots = text.split("\n"), "." * (name.count("/") + 1)
    nodes = (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    for node in sorted(nodes, key=lambda node: -node.col_offset):  # of one line the last first
        told = _imported(node)
        meant = {one: inside(one, modules, package) for one in told}
        if all(module is None for module in meant.values()):
            continue
        line = lines[node.lineno - 1].encode()
        before, rest = line[: node.col_offset].decode(), line[node.col_offset :].decode()
        new = _rewritten(node, rest, meant[told[0]], dots)
        if new is None:
            raise KataError(
                f"{name}:{node.lineno}: {rest!r}: import one module a line, as `from package import module`"
            )
        lines[node.lineno - 1] = before + new
    return "\n".join(lines)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that a statement imports by their whole names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if node.module and not node.level else []


def inside(module: str, modules: Collection[str], package: str) -> str | None:
    """The module's name inside the program, "" for the whole; None of what is no part of it."""
    first, _, rest = module.partition(".")
    if first in modules:
        return module
    return rest if package and first == package else None


def _rewritten(node: ast.Import | ast.ImportFrom, line: str, module: str | None, dots: str) -> str | None:
    """The beginning of the statement's line, made relative; None where that takes more than a word."""
    if module is None:
        return None
    if isinstance(node, ast.ImportFrom):
        new, count = re.subn(r"^from\s+[\w.]+\s+import\b", f"from {dots}{module} import", line)
        return new if count else None
    (alias, *more) = node.names
    above, _, last = module.rpartition(".")
    if more or not last or (above and not alias.asname):
        return None
    return re.sub(r"^import\s+[\w.]+", f"from {dots}{above} import {last}", line)
