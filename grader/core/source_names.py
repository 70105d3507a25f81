"""The top-level statements of a cell: which names each gives a value and which it needs. Nothing is run."""

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_CHECK = re.compile(r"(?:grader\.)?(?:check|score)\(\s*[\"']\w+[\"']\s*\)[;\s]*$")

STAR = "*"
"""Stands for whatever `from … import *` binds."""


@dataclass(frozen=True)
class CodeStatement:
    """A statement, or several that share a line, beginning on line `first` of the cell.

    `needs` are the names that must have a value when it runs, `uses` those that its functions look up
    when they are called; `calls` are those of both that are called. Of what it `binds`, it `defines`
    functions and classes, and `wraps` what it hands to a call: `f` in `f = faster(f)`.
    """

    text: str
    binds: frozenset[str]
    needs: frozenset[str]
    uses: frozenset[str]
    calls: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()
    wraps: frozenset[str] = frozenset()
    is_stub: bool = False
    first: int = 1

    @property
    def is_future(self) -> bool:
        return self.text.startswith("from __future__ ")

    @property
    def imports(self) -> frozenset[str]:
        """The packages that it imports, where that is all it does."""
        nodes = ast.parse(self.text).body if self.text.startswith(("import ", "from ")) else []
        named = (alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)
        origins = (node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))
        return frozenset(name.split(".")[0] for name in (*named, *origins))

    @property
    def is_check(self) -> bool:
        """Whether it has the answer judged, and so is no part of it."""
        return _CHECK.match(self.text) is not None


@lru_cache(maxsize=4096)
def statements(text: str) -> tuple[CodeStatement, ...]:
    """What a text consists of; nothing where it is not Python."""
    lines = lines_of(text)
    found = []
    try:
        for first, last in _spans(ast.parse(text)):
            part = "\n".join(lines[first - 1 : last])
            found.append(_statement(part, first))
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


def defines(text: str) -> frozenset[str]:
    """The functions and classes of a text; none where it is not Python."""
    return frozenset[str]().union(*(statement.defines for statement in statements(text)))


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: others take more for the end of one."""
    return re.split(r"\r\n|\r|\n", text)


def is_python(text: str) -> bool:
    """Whether it is a program."""
    try:
        ast.parse(text)
    except _UNREADABLE:
        return False
    return True


def is_blank(text: str) -> bool:
    """Whether it is a program that does nothing: comments and texts alone."""
    try:
        body = ast.parse(text).body
    except _UNREADABLE:
        return False
    values = (node.value if isinstance(node, ast.Expr) else None for node in body)
    return all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in values)


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


def _statement(text: str, first: int) -> CodeStatement:
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
    return CodeStatement(
        text,
        frozenset(_bound(tree) | _changed(tree)),
        frozenset(needs - _looped(tree)),  # from Python 3.12 on, these seem to be the module's
        frozenset(uses),
        frozenset(_called(tree)),
        frozenset(node.name for node in _outside_of_functions(tree) if isinstance(node, _DEFINITIONS)),
        frozenset(_wrapped(tree)),
        all(isinstance(node, _DEFINITIONS) and _is_stub(node) for node in tree.body),
        first,
    )


_RUN_AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound(tree: ast.Module) -> set[str]:
    """The module's names that get a value, wherever in a statement."""
    found: set[str | None] = set()
    for node in _outside_of_functions(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {name.asname or name.name.split(".")[0] for name in node.names}
        elif isinstance(node, (*_DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return {name for name in found if name is not None}


def _outside_of_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes that run as the module's own, and functions and classes without what is in them."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, (*_DEFINITIONS, *_COMPREHENSIONS, ast.Lambda)):
            nodes += ast.iter_child_nodes(node)


def _called(tree: ast.Module) -> Iterator[str]:
    """The names of what is called."""
    functions = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return (function.id for function in functions if isinstance(function, ast.Name))


def _wrapped(tree: ast.Module) -> Iterator[str]:
    """What is handed to a call, whose result is called the same."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            given = {one.id for one in node.value.args if isinstance(one, ast.Name)}
            yield from (one.id for one in node.targets if isinstance(one, ast.Name) and one.id in given)


def _is_stub(node: ast.AST) -> bool:
    """Whether a function or class holds nothing yet."""
    if isinstance(node, ast.ClassDef):
        return all(_is_stub(one) or _is_filler(one) for one in node.body)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and all(map(_is_filler, node.body))


def _is_filler(node: ast.stmt) -> bool:
    """A docstring, `...`, `pass`, or that it is still to be written."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


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
