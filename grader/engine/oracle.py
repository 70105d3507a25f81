"""The oracle of a hidden suite, apart from the suite.

An answer is called by the oracle, and can look at who calls it: up the stack, and into the names there. The
suite holds slow, plain references to compare with, and whoever finds one has right values for free. So the
oracle runs in a module of its own, made from those statements of the suite that it needs.
"""

import ast
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

NAME = "oracle"


def apart(suite: ModuleType) -> ModuleType:
    """A new module with the suite's `oracle` and what that uses, and nothing else."""
    file = Path(str(suite.__file__))
    tree = ast.parse(file.read_bytes(), str(file))
    tree.body = _needed(tree.body)
    module = ModuleType(f"{NAME}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where compilers and pickle look for its functions
    exec(compile(tree, str(file), "exec"), vars(module))
    return module


def _needed(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements that bind what the oracle mentions, and what these mention, in their order."""
    binding: dict[str, set[int]] = {}
    for place, statement in enumerate(body):
        for name in _bound(statement):
            binding.setdefault(name, set()).add(place)
    kept = {n for n, s in enumerate(body) if isinstance(s, ast.ImportFrom) and s.module == "__future__"}
    rest = [NAME]
    while rest:
        for place in binding.pop(rest.pop(), set()) - kept:
            kept.add(place)
            rest += [node.id for node in ast.walk(body[place]) if isinstance(node, ast.Name)]
    return [statement for place, statement in enumerate(body) if place in kept]


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives a meaning."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    nodes = list(ast.walk(statement))
    imported = {(n.asname or n.name).partition(".")[0] for n in nodes if isinstance(n, ast.alias)}
    return imported | {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
