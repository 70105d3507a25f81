"""Gradients that nobody has asked for: read off the source alone."""

import ast
import re
from collections.abc import Iterator

from grader.diagnose.idioms.site import last_name, text
from grader.diagnose.idioms.sources import functions, own_nodes


def no_backward(part: ast.AST, tree: ast.Module) -> str:
    """`.grad` is read of what the function itself lets record, and nothing in the file goes backward."""
    if any(last_name(node) in ("backward", "autograd", "grad_fn") for node in ast.walk(tree)):
        return ""
    for function in functions(part):
        recorded = set(_recorded(function))
        for node in own_nodes(function):
            is_read = (
                isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load)
            )
            if is_read and text(node.value) in recorded:  # type: ignore[attr-defined]
                return f"`backward()` is never called, so `{text(node)}` is None"
    return ""


def _recorded(function: ast.FunctionDef) -> Iterator[str]:
    """What a function tells to record: by `requires_grad_()`, by the attribute, or where it is made."""
    for node in own_nodes(function):
        is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if last_name(node) == "requires_grad_" or (is_set and last_name(node) == "requires_grad"):
            yield text(node.value)  # type: ignore[attr-defined]
        if isinstance(node, ast.Assign) and re.search(r"requires_grad(?:=True|_\()", text(node.value)):
            yield from map(text, node.targets)
