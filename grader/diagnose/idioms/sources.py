"""What a source tells by itself: which names hold tensors, which calls return nothing."""

import ast
import inspect
import re
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from grader.diagnose.idioms.site import last_name, text

CHANGE_IN_PLACE = ("all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "barrier", "send")
GIVE_NOTHING = {
    "append": "changes its list",
    "extend": "changes its list",
    "insert": "changes its list",
    "sort": "changes its list",
    "reverse": "changes its list",
    "update": "changes its dict or set",
    "shuffle": "changes its list",
    "backward": "fills `.grad`",
    "zero_grad": "clears the gradients",
    "step": "changes the parameters",
    "register_buffer": "puts the tensor on self",
    "copy_weights": "",
    **dict.fromkeys(CHANGE_IN_PLACE, "changes its tensor in place"),
}
"""Calls by their last name. `sort`, `reverse` and `update` are tensors' or modules' elsewhere: see below."""

_OTHERS = (
    "item tolist size numel dim stride numpy is_floating_point element_size data_ptr get_device is_contiguous"
    " is_tensor manual_seed Generator device no_grad enable_grad finfo iinfo save load Size equal allclose"
    " set_grad_enabled is_grad_enabled get_default_dtype compile inference_mode autocast initial_seed Tensor"
    " max min sort topk median mode split chunk unbind meshgrid unique storage_offset backward register_hook"
    " is_complex"
)
NOT_TENSORS = frozenset(_OTHERS.split())
"""Functions of torch, and methods, that give something else than a tensor, or may."""
LIKE_TENSOR = re.compile(r"(?:\w+\[)?(?:torch\.)?Tensor\b")
_ITS_OWN = ("unsqueeze", "permute", "masked_fill", "softmax", "numel", "requires_grad_", "topk", "gather")
"""Methods by which a tensor is known without an annotation: arrays, lists and layers have none of them."""


def returns_nothing(call: ast.Call, tree: ast.Module, is_none: bool = False) -> str:
    """That this call returns None, and what to do; "" where it is not certain.

    Args:
        is_none: it is known that it did.
    """
    name, func = last_name(call.func), call.func
    owner = text(func.value) if isinstance(func, ast.Attribute) else ""
    if name in GIVE_NOTHING and owner:
        of_lists = name in ("append", "sort", "reverse") and not is_none
        if of_lists and not _is_list(func.value, tree):  # type: ignore[attr-defined]
            return ""
        if name in CHANGE_IN_PLACE and (owner not in ("dist", "torch.distributed") or call.keywords):
            return ""
        if name in ("step", "update", "insert", "reduce", "extend"):
            return ""
        return f"`{text(func)}` {GIVE_NOTHING[name]}, and returns nothing"
    own = next((d for d in tree.body if isinstance(d, ast.FunctionDef) and d.name == name), None)
    if own is not None and isinstance(func, ast.Name) and not gives(own):
        return f"`{name}` returns nothing: `return` is missing in it"
    return ""


def _is_list(node: ast.AST, tree: ast.Module) -> bool:
    if isinstance(node, ast.Name):
        assigned = (
            n for n in ast.walk(tree) if isinstance(n, ast.Assign) and node.id in map(last_name, n.targets)
        )
        values = [n.value for n in assigned if not _is_of(n.value, node.id)]
        return bool(values) and not any(isinstance(v, ast.Name) or not _is_list(v, tree) for v in values)
    is_call = isinstance(node, ast.Call) and last_name(node.func) in ("list", "sorted")
    return is_call or isinstance(node, (ast.List, ast.ListComp))


def _is_of(node: ast.AST, name: str) -> bool:
    """Whether it is what a method of this name's gives: `rows.append(x)`."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == name


def gives(function: ast.FunctionDef) -> bool:
    """Whether a function returns something, yields or raises; `...` stands for what is written elsewhere."""
    kinds = (ast.Yield, ast.YieldFrom, ast.Raise)
    return any(
        isinstance(n, kinds)
        or (isinstance(n, ast.Constant) and n.value is ...)
        or (isinstance(n, ast.Return) and n.value is not None)
        for n in own_nodes(function)
    )


def functions(part: ast.AST) -> Iterator[ast.FunctionDef]:
    """All functions in a part, and methods."""
    return (node for node in ast.walk(part) if isinstance(node, ast.FunctionDef))


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, and not in those that it holds."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from own_nodes(child)


METHODS = (Tensor, nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, RemovableHandle)


def uncalled(tree: ast.AST) -> str:
    """A method that stands alone on its line, and is not called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute):
            code, name = text(node.value), node.value.attr
            if any(inspect.isroutine(getattr(kind, name, None)) for kind in METHODS):
                return f"`{code}` alone on its line does nothing: `{code}()` calls it"
    return ""


def tensors_in(function: ast.FunctionDef) -> set[str]:
    """Names that hold a tensor all through a function, by annotations and by what is assigned to them."""
    args = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = {a.arg for a in args if a.annotation and LIKE_TENSOR.match(ast.unparse(a.annotation))}
    bare = {a.arg for a in args if a.annotation is None}
    used = (n for n in own_nodes(function) if isinstance(n, ast.Attribute) and n.attr in _ITS_OWN)
    names |= {last_name(n.value) for n in used} & bare
    others: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                is_one = isinstance(target, ast.Name) and is_tensor(node.value, names)
                (names if is_one else others).update(
                    n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                )
        elif isinstance(node, (ast.For, ast.comprehension)):
            others.update(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    return names - others


def is_tensor(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression is certainly a tensor, where these names are."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        return node.attr in ("T", "mT") and is_tensor(node.value, names)
    if isinstance(node, ast.Subscript):
        return is_tensor(node.value, names)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and is_tensor(node.operand, names)
    if isinstance(node, ast.BinOp):
        return is_tensor(node.left, names) or is_tensor(node.right, names)
    if isinstance(node, ast.Compare):
        is_plain = isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        return not is_plain and any(is_tensor(each, names) for each in (node.left, *node.comparators))
    if not isinstance(node, ast.Call) or not isinstance(func := node.func, ast.Attribute):
        return False
    if isinstance(func.value, ast.Name) and func.value.id in ("torch", "F"):
        return func.attr not in NOT_TENSORS
    return func.attr not in NOT_TENSORS and is_tensor(func.value, names)
