"""What a function returns, where its line tells that it cannot be all: read off the source alone."""

import ast
import inspect
import itertools
from collections.abc import Iterator

from torch import Tensor

from grader.diagnose.idioms.site import factors, last_name, text
from grader.diagnose.idioms.sources import functions, gives, is_tensor, own_nodes, tensors_in

_WHOLE = ("mean", "sum", "max", "min", "prod", "std", "var", "argmax", "argmin", "median")


def one_number(part: ast.AST) -> str:
    """What makes one number of a whole tensor, where more of them are wanted."""
    for value in _returned(part):
        call = value if isinstance(value, ast.Call) else None
        func = call.func if call else None
        if call and isinstance(func, ast.Attribute) and func.attr in _WHOLE and not call.keywords:
            is_of_torch = text(func.value) == "torch"
            if len(call.args) == is_of_torch:
                return f"`{text(value)}` makes one number of all: `dim=` names the dim that goes away"
    return ""


def of_pair(part: ast.AST, _: ast.Module) -> str:
    """A slice of the two things that `sort` and `topk` give."""
    for node in ast.walk(part):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            name = last_name(node.value.func) if isinstance(node.value, ast.Call) else ""
            if name in ("sort", "topk"):
                return (
                    f"`{name}` gives values and indices, and `[{text(node.slice)}]` slices the pair of them"
                )
    return ""


def uncalled_result(part: ast.AST, _: ast.Module) -> str:
    """A method of a tensor that is returned, and was not called."""
    for function in functions(part):
        tensors = tensors_in(function)
        for value in _returned(function):
            is_its = isinstance(value, ast.Attribute) and is_tensor(value.value, tensors)
            if is_its and inspect.isroutine(getattr(Tensor, last_name(value), None)):
                return f"`{text(value)}` is a function: `{text(value)}()` calls it"
    return ""


def lost_output(part: ast.AST, tree: ast.Module) -> str:
    """A layer of the class that is run alone on its line."""
    made = (n for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call))
    layers = {text(t) for n in made if text(n.value.func).startswith("nn.") for t in n.targets}  # type: ignore[attr-defined]
    for node in ast.walk(part):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and text(call.func) in layers:
            return f"`{text(call)}` alone on its line is computed, and dropped: `x = {text(call)}`"
    return ""


def floored(part: ast.AST, _: ast.Module) -> str:
    """`//` of a float tensor."""
    for function in functions(part):
        floats = {
            a.arg
            for a in function.args.args
            if a.annotation and ast.unparse(a.annotation).startswith("Float")
        }
        for node in own_nodes(function):
            is_floor = isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)
            if is_floor and floats & set(map(last_name, factors(node.left))):  # type: ignore[attr-defined]
                return f"`{text(node)}`: `//` drops what stands behind the point, and `/` keeps it"
    return ""


def second_name(part: ast.AST, _: ast.Module) -> str:
    """A tensor that has two names, and is changed by one of them."""
    for function in functions(part):
        tensors = tensors_in(function)
        for node in own_nodes(function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in tensors:
                other = text(node.targets[0])
                if any(isinstance(n, ast.AugAssign) and text(n.target) == other for n in own_nodes(function)):
                    return (
                        f"`{text(node)}` copies nothing: both names stand for one tensor, without `.clone()`"
                    )
    return ""


def unreached(part: ast.AST, _: ast.Module) -> str:
    for node in ast.walk(part):
        body = getattr(node, "body", None)
        for one, after in itertools.pairwise(body) if isinstance(body, list) else ():
            if isinstance(one, ast.Return) and isinstance(after, ast.Return):
                return f"what stands below `{text(one)}` is never run"
    return ""


def no_return(part: ast.AST, _: ast.Module) -> str:
    """It promises a result, and has no `return`."""
    for function in functions(part):
        is_promised = function.returns is not None and ast.unparse(function.returns) != "None"
        if is_promised and not gives(function):
            printed = any(
                isinstance(n, ast.Call) and last_name(n.func) == "print" for n in own_nodes(function)
            )
            instead = "`return` in place of `print`" if printed else "does it end with `return`?"
            return f"`{function.name}` returns nothing: {instead}"
    return ""


def _returned(part: ast.AST) -> Iterator[ast.expr]:
    """All that functions return, one by one where it is several."""
    for function in functions(part):
        for node in own_nodes(function):
            if isinstance(node, ast.Return) and node.value is not None:
                yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
