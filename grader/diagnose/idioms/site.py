"""Where in an answer something was raised: the part of its line that failed, and what names stand for."""

import ast
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType, ModuleType, TracebackType
from typing import TypeVar

from torch import Tensor, nn

from grader.diagnose._compat import registered

_Node = TypeVar("_Node", bound=ast.AST)
UNKNOWN = object()
"""What a name stands for that cannot be looked up without running anything of the answer's."""


@dataclass(frozen=True)
class Site:
    """`nodes` are those that may have failed: on Python 3.10 all of the line, later the one that did."""

    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    names: Mapping[str, object]
    line: int

    @classmethod
    def of(cls, error: BaseException, is_own: Callable[[str], bool]) -> "Site | None":
        """The innermost line in a file of the answer's own; None where there is none."""
        last, trace = None, error.__traceback__
        while trace is not None:
            if is_own(trace.tb_frame.f_code.co_filename):
                last = trace
            trace = trace.tb_next
        return cls._of_frame(last) if last else None

    @classmethod
    def _of_frame(cls, trace: TracebackType) -> "Site | None":
        frame: FrameType = trace.tb_frame
        tree = parsed("".join(linecache.getlines(frame.f_code.co_filename)))
        if tree is None:
            return None
        span = _span(trace)
        exact = tuple(node for node in ast.walk(tree) if span and _place(node) == span)
        on_line = (node for node in ast.walk(tree) if getattr(node, "lineno", 0) == trace.tb_lineno)
        return cls(tree, exact or tuple(on_line), {**frame.f_globals, **frame.f_locals}, trace.tb_lineno)

    def one(self, kind: type[_Node]) -> _Node | None:
        """The node of this kind, if it is certain which."""
        found = [node for node in self.nodes if isinstance(node, kind)]
        return found[0] if len(found) == 1 else None

    def holder(self, kind: type[_Node]) -> _Node | None:
        """The innermost node of this kind around the line."""
        around = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, kind)
            and getattr(node, "lineno", 0) <= self.line <= (getattr(node, "end_lineno", 0) or 0)
        ]
        return around[-1] if around else None  # walk goes from the outside in

    def value(self, node: ast.AST) -> object:
        """What a dotted name stands for; nothing that the answer's author wrote is run for it."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.names.get(node.id, UNKNOWN)
        if not isinstance(node, ast.Attribute):
            return UNKNOWN
        owner = self.value(node.value)
        if isinstance(owner, nn.Module):
            held = {**vars(owner), **registered(owner)}
            return held.get(node.attr, getattr(type(owner), node.attr, UNKNOWN))
        is_plain = isinstance(owner, ModuleType) or type(owner) in (Tensor, nn.Parameter)
        return getattr(owner, node.attr, UNKNOWN) if is_plain else UNKNOWN


@lru_cache(8)
def parsed(source: str) -> ast.Module | None:
    """The tree of a source, None where there is none. Nobody changes it."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def text(node: ast.AST) -> str:
    """As code, in one line; short."""
    code = " ".join(ast.unparse(node).split())
    return code if len(code) <= 60 else f"{code[:58]} …"


def last_name(node: ast.AST) -> str:
    """`Linear` of `torch.nn.Linear`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def operands(node: ast.AST) -> Iterator[ast.expr]:
    """The parts whose values go into what failed, and not the function that is called."""
    for field, part in ast.iter_fields(node):
        if field == "func":
            if isinstance(part, ast.Attribute):
                yield part.value
            continue
        for each in part if isinstance(part, list) else [part]:
            each = each.value if isinstance(each, (ast.keyword, ast.Starred)) else each
            if isinstance(each, (ast.GeneratorExp, ast.ListComp)):
                yield each.elt
            elif isinstance(each, ast.expr):
                yield each


def factors(node: ast.expr) -> Iterator[ast.expr]:
    """What a formula is made of, down to its names."""
    if isinstance(node, ast.BinOp):
        yield from (*factors(node.left), *factors(node.right))
    else:
        yield node


def _place(node: ast.AST) -> tuple[object, ...]:
    return tuple(getattr(node, a, None) for a in ("lineno", "end_lineno", "col_offset", "end_col_offset"))


def _span(trace: TracebackType) -> tuple[object, ...] | None:
    if sys.version_info < (3, 11):
        return None
    return list(trace.tb_frame.f_code.co_positions())[trace.tb_lasti // 2]
