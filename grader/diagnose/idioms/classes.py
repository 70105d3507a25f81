"""What a class of an answer's own has under a wrong name, or in a wrong place."""

import ast
from difflib import get_close_matches

from torch import nn

from grader.diagnose.idioms.site import last_name, text
from grader.diagnose.idioms.sources import functions, own_nodes

SPECIAL = ("__init__", "__len__", "__getitem__", "__iter__", "__call__", "__next__", "forward")


def _is_layer(node: ast.AST) -> bool:
    made = getattr(nn, last_name(node.func), None) if isinstance(node, ast.Call) else None
    return isinstance(made, type) and issubclass(made, nn.Module)


def lost_layer(part: ast.AST, _: ast.Module) -> str:
    """A layer that `__init__` makes and does not keep, or keeps where the module does not look."""
    for init in functions(part) if isinstance(part, ast.ClassDef) else ():
        if init.name != "__init__":
            continue
        used = {n.id for n in ast.walk(init) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        for node in own_nodes(init):
            if not isinstance(node, ast.Assign):
                continue
            target, value = node.targets[0], node.value
            if _is_layer(value) and isinstance(target, ast.Name) and target.id not in used:
                return f"`{target.id}` is gone when `__init__` ends: `self.{target.id} = …` keeps it"
            items = value.elts if isinstance(value, ast.List) else []
            items = [value.elt] if isinstance(value, ast.ListComp) else items
            if isinstance(target, ast.Attribute) and items and all(map(_is_layer, items)):
                return "a module finds no layers in a plain list: `nn.ModuleList([…])` shows them"
    return ""


def misspelled(part: ast.AST, _: ast.Module) -> str:
    """A name that Python or torch looks for, misspelled."""
    for node in ast.walk(part):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            name = node.targets[0].attr
            if name != "requires_grad" and get_close_matches(name, ["requires_grad"], cutoff=0.85):
                return f"`{name}` means nothing to torch: it is called `requires_grad`"
    return misnamed(part) if isinstance(part, ast.ClassDef) else ""


def misnamed(part: ast.ClassDef) -> str:
    """A method that is called nearly as one that Python or torch looks for."""
    names = [d.name for d in part.body if isinstance(d, ast.FunctionDef)]
    for name in names:
        bare = name.strip("_")
        if name in SPECIAL or (name.startswith("__") and name.endswith("__") and bare != "int"):
            continue
        near = "__init__" if bare == "int" else next((s for s in SPECIAL if s.strip("_") == bare), "")
        if not near and (found := get_close_matches(name, ["forward"], cutoff=0.8)):
            near = found[0]
        is_meant = near == "forward" or (near and name.startswith("_"))
        if is_meant and near not in names:
            lines = ", with two underscores on each side" if near != "forward" else ""
            return f"`{name}` is to be called `{near}`{lines}"
    return ""


def no_module(part: ast.AST, _: ast.Module) -> str:
    """A class that is meant for a module, and inherits from nothing."""
    if isinstance(part, ast.ClassDef) and not part.bases and not part.keywords and not part.decorator_list:
        names = {d.name for d in part.body if isinstance(d, ast.FunctionDef)}
        if {"__init__", "forward"} <= names and "__call__" not in names:
            return f"`{part.name}` is no module yet: `class {part.name}(nn.Module):`"
    return ""


def not_applied(part: ast.AST, tree: ast.Module) -> str:
    """A `torch.autograd.Function` of the answer's own that is called itself."""
    own = [d.name for d in tree.body if isinstance(d, ast.ClassDef) and "Function" in map(last_name, d.bases)]
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own:
            return f"`{node.func.id}.apply(…)` runs it: `{text(node)}` makes an object of the class"
    return ""
