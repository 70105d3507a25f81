"""The top-level statements of a cell: which names each gives a value and which it needs. Nothing is run."""

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_TIMING = ("%%time", "%%timeit", "%%capture", "%%prun")
_MAGIC = re.compile(r"^([ \t]*)([%!].*|.*\?)$", re.MULTILINE)

_CHECK = re.compile(r"(?:grader\.)?(?:check|score)\(\s*[\"']\w+[\"']\s*\)[;\s]*$")

STAR = "*"
"""Stands for whatever `from … import *` binds."""


@dataclass(frozen=True)
class Statement:
    """A statement, or several that share a line, beginning on line `first` of the cell.

    `needs` are the names that must have a value when it runs, `uses` those that its functions look up
    when they are called.
    """

    text: str
    binds: frozenset[str]
    needs: frozenset[str]
    uses: frozenset[str]
    first: int = 1

    @property
    def is_future(self) -> bool:
        return self.text.startswith("from __future__ ")

    @property
    def is_check(self) -> bool:
        """Whether it has the answer judged, and so is no part of it."""
        return _CHECK.match(self.text) is not None


@lru_cache(maxsize=4096)
def statements(text: str) -> tuple[Statement, ...]:
    """What a cell's text consists of; nothing where it is not Python."""
    text = python(text)
    lines = text.splitlines()
    found = []
    try:
        for first, last in _spans(ast.parse(text)):
            part = "\n".join(lines[first - 1 : last])
            found.append(Statement(part, *_names(part), first))
    except _UNREADABLE:
        return ()
    return tuple(found)


@lru_cache(maxsize=4096)
def binds(text: str) -> frozenset[str]:
    """All names that a cell gives a value."""
    return frozenset[str]().union(*(statement.binds for statement in statements(text)))


def asked_for(stub: str) -> list[str]:
    """The public functions and classes of a stub."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n.name for n in ast.parse(stub).body if isinstance(n, kinds) and not n.name.startswith("_")]


_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python raises on text that is no program, on null bytes, and on what is nested too deep for it."""


@lru_cache(maxsize=4096)
def python(text: str) -> str:
    """A cell's text without what only IPython understands: its magics, its shell commands, its help."""
    text = text.removeprefix("\ufeff")  # that of a file
    if _is_python(text):
        return text
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith("%%"):
        return python(text.lstrip().removeprefix(first)) if first.startswith(_TIMING) else ""
    plain = _MAGIC.sub(r"\1pass", text)
    return plain if _is_python(plain) else text


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except _UNREADABLE:
        return False
    return True


def _spans(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last line of each statement, in which those that share a line are one."""
    start = end = 0
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if first > end:
            if end:
                yield start, end
            start = first
        end = node.end_lineno or first
    if end:
        yield start, end


def _names(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The module's names that `text` gives a value or changes, those that it needs, and those it uses."""
    table = symtable.symtable(text, "<cell>", "exec")
    tree = ast.parse(text)
    needs = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    uses: set[str] = set()
    inner = [(scope, True) for scope in table.get_children()]
    while inner:
        scope, is_run = inner.pop()
        is_run = is_run and (scope.get_type() == "class" or scope.get_name() in _RUN_AT_ONCE)
        found = {s.get_name() for s in scope.get_symbols() if s.is_global() and s.is_referenced()}
        (needs if is_run else uses).update(found)
        inner += [(child, is_run) for child in scope.get_children()]
    # From Python 3.12 on, the variables of a comprehension seem to be the module's.
    return frozenset(_bound(tree) | _changed(tree)), frozenset(needs - _looped(tree)), frozenset(uses)


_RUN_AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound(tree: ast.Module) -> set[str]:
    """The module's names that get a value, wherever in a statement."""
    found: set[str | None] = set()
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {name.asname or name.name.split(".")[0] for name in node.names}
        elif isinstance(node, (*_DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, (*_DEFINITIONS, *_COMPREHENSIONS, ast.Lambda)):
            nodes += ast.iter_child_nodes(node)
    return {name for name in found if name is not None}


def _looped(tree: ast.Module) -> set[str]:
    """The variables of all comprehensions."""
    targets = [node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _changed(tree: ast.Module) -> set[str]:
    """What assignments to items and attributes change: `table` in `table["a"] = 1`."""
    found = set()
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            targets = [statement.target]
        for target in targets:
            while isinstance(target, (ast.Subscript, ast.Attribute)):
                target = target.value
            if isinstance(target, ast.Name):
                found.add(target.id)
    return found
