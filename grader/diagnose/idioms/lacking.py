"""A name that is not there: what it is called, or where it went."""

import ast
import builtins
import re
from difflib import get_close_matches

import torch
import torch.nn.functional as F
from torch import nn

from grader.diagnose.idioms.classes import misnamed
from grader.diagnose.idioms.site import Site, last_name

_PICKED = "`x[i]` is row i, `x[:, j]` column j"
OF_TENSORS = {
    **dict.fromkeys(("row", "column", "rows", "columns", "loc", "iloc", "get"), _PICKED),
    "zero_grad": "`x.grad = None`; optimizers and modules have `zero_grad()`",
    "copy": "`.clone()`",
    "astype": "`.to(torch.float32)`, `.float()` or `.long()`",
    "append": "`torch.cat([a, b])`; a list can be appended to, and stacked at the end",
    "concat": "`torch.cat([a, b])`",
    "concatenate": "`torch.cat([a, b])`",
    "stack": "`torch.stack([a, b])`",
    "cat": "`torch.cat([a, b])`",
    "dims": "`.ndim`",
    "rank": "`.ndim`",
    "length": "`len(x)` or `x.numel()`",
    "len": "`len(x)` or `x.numel()`",
    "count": "`.numel()`, or `(x == value).sum()`",
    "one_hot": "`F.one_hot(x)`",
    "to_list": "`.tolist()`",
    "toList": "`.tolist()`",
    "to_numpy": "`.numpy()`",
    "as_type": "`.to(dtype)`",
    "cast": "`.to(dtype)`",
    "average": "`.mean()`",
    "where": "`torch.where(condition, a, b)`",
    "gelu": "`F.gelu(x)`",
    "leaky_relu": "`F.leaky_relu(x)`",
    "normalize": "`F.normalize(x, dim=-1)`",
    "pad": "`F.pad(x, …)`",
    "cross_entropy": "`F.cross_entropy(scores, classes)`",
    "zeros_like": "`torch.zeros_like(x)`",
    "ones_like": "`torch.ones_like(x)`",
    "is_available": "`torch.cuda.is_available()`",
    "items": "`.tolist()`, or `.item()` for one number",
    "values": "`max`, `sort` and others give `.values` where they are told a dim; this is a plain tensor",
    "indices": "`max`, `sort` and others give `.indices` where they are told a dim; this is a plain tensor",
}
OF_TORCH = {
    "from_array": "`torch.from_numpy`",
    "from_list": "`torch.tensor`",
    "array": "`torch.tensor`",
    "expand_dims": "`x.unsqueeze(dim)`",
    "newaxis": "`None`, as in `x[:, None]`, or `x.unsqueeze(1)`",
    "identity": "`torch.eye`",
    "power": "`**`, or `torch.pow`",
    "append": "`torch.cat([a, b])`",
    "copy": "`x.clone()`",
    "list": "`x.tolist()`",
    "shape": "`x.shape`",
    "choice": "`torch.multinomial`, or `torch.randint`",
    "random_choice": "`torch.multinomial`, or `torch.randint`",
    "repeat": "`x.repeat(…)`, or `torch.repeat_interleave`",
    "size": "`x.shape`",
    "len": "`len(x)`",
    "uniform": "`torch.rand`, from 0 to 1",
    "normalize": "`F.normalize`",
    "astype": "`x.to(dtype)`",
}
IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "np": "import numpy as np",
    "math": "import math",
    "dist": "import torch.distributed as dist",
    "Tensor": "from torch import Tensor",
    "optim": "from torch import optim",
    "copy": "import copy",
    "random": "import random",
    "partial": "from functools import partial",
    "DataLoader": "from torch.utils.data import DataLoader",
    "Dataset": "from torch.utils.data import Dataset",
    "TensorDataset": "from torch.utils.data import TensorDataset",
    "random_split": "from torch.utils.data import random_split",
    "pad_sequence": "from torch.nn.utils.rnn import pad_sequence",
    "checkpoint": "from torch.utils.checkpoint import checkpoint",
    "gradcheck": "from torch.autograd import gradcheck",
    "defaultdict": "from collections import defaultdict",
}


def of_name(error: NameError, message: str, site: Site | None) -> str:
    """A name that nothing has set."""
    found = re.search(r"name '(\w+)' is not defined", message)
    if not found:
        return ""
    name = found[1]
    if site is not None and (owner := site.holder(ast.ClassDef)):
        kept = _attributes(owner)
        if name in kept:
            return f"it is an attribute: `self.{name}`"
        if made := _made_in_init(owner, name):
            return f"{made}, and other methods do not see it: keep it as `self.{name}`"
    if name in ("true", "false", "null", "none", "nil"):
        return f"Python writes `{ {'true': 'True', 'false': 'False'}.get(name, 'None') }`"
    owners = [n for n, held in site.names.items() if isinstance(held, torch.Tensor)] if site else []
    if owners and name in ("grad", "shape", "ndim", "dtype", "device", "T"):
        return f"is `{owners[0]}.{name}` meant?"
    if name in IMPORTS:
        return f"it is not imported: `{IMPORTS[name]}` at the top"
    if isinstance(getattr(torch, name, None), torch.dtype):
        return f"a dtype is torch's: `torch.{name}`"
    if site is not None and (near := get_close_matches(name, _known(site), n=1, cutoff=0.75)):
        return f"is `{near[0]}` meant?"
    for module, short in ((torch, "torch"), (nn, "nn"), (F, "F")):
        if callable(getattr(module, name, None)):
            return f"it is part of torch: `{short}.{name}`"
    return ""


def _known(site: Site) -> list[str]:
    return [name for name in (*site.names, *vars(builtins)) if not name.startswith("_")]


def of_attribute(error: AttributeError, message: str, site: Site | None) -> str:
    """What an object, or a part of torch, does not have."""
    if found := re.search(r"module '([\w.]+)' has no attribute '(\w+)'", message):
        return _of_module(found[1], found[2])
    found = re.search(r"'(?:[\w.]+\.)?(\w+)' object has no attribute '(\w+)'", message)
    if not found:
        return ""
    kind, name = found[1], found[2]
    if kind in ("Tensor", "Parameter"):
        if name in OF_TENSORS:
            return f"torch's way: {OF_TENSORS[name]}"
        near = get_close_matches(name, [n for n in dir(torch.Tensor) if n[0] != "_"], n=1, cutoff=0.75)
        if near:
            return f"is `.{near[0]}` meant?"
        return f"it is no method of tensors: `F.{name}(x, …)`" if hasattr(F, name) else ""
    owner = _class(site, kind)
    if owner is not None:
        return _of_own(owner, kind, name)
    if isinstance(error.obj, nn.Module) and name == "device":
        return "a module has no device of its own: `next(model.parameters()).device`"
    if isinstance(error.obj, torch.optim.Optimizer) and name in ("lr", "learning_rate"):
        return 'the rates are in `optimizer.param_groups`: `for group in …: group["lr"]`'
    near = get_close_matches(name, _public(error.obj), n=1, cutoff=0.75)
    return f"is `.{near[0]}` meant?" if near else ""


def _names(module: object) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def _public(owner: object) -> list[str]:
    return [name for name in object.__dir__(owner) if not name.startswith("_")]


def _class(site: Site | None, name: str) -> ast.ClassDef | None:
    classes = site.tree.body if site else []
    return next((d for d in classes if isinstance(d, ast.ClassDef) and d.name == name), None)


def _of_own(owner: ast.ClassDef, kind: str, name: str) -> str:
    """What an object of the answer's own class lacks."""
    if made := _made_in_init(owner, name):
        return f"{made}, and does not keep it: `self.{name} = …`"
    if told := misnamed(owner):
        return told
    if near := get_close_matches(name, _attributes(owner), n=1, cutoff=0.7):
        return f"`{kind}` has `{near[0]}`: is it meant?"
    if name == "device":
        return "a module has no device of its own: `next(self.parameters()).device`"
    return f"nothing in `{kind}` sets `self.{name}`" if _is_plain(owner) else ""


def _is_plain(owner: ast.ClassDef) -> bool:
    return not any(isinstance(n, ast.Call) and last_name(n.func) == "setattr" for n in ast.walk(owner))


def _attributes(owner: ast.ClassDef) -> list[str]:
    """What methods put on self, or are."""
    names = [d.name for d in owner.body if isinstance(d, ast.FunctionDef) and not d.name.startswith("_")]
    for node in ast.walk(owner):
        is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_set and isinstance(node.value, ast.Name) and node.value.id == "self":  # type: ignore[attr-defined]
            names.append(node.attr)  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and last_name(node.func) in ("register_buffer", "register_parameter"):
            names += [str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant)]
    return names


def _made_in_init(owner: ast.ClassDef, name: str) -> str:
    """What `__init__` calls so, and does not put on self."""
    init = next((d for d in owner.body if isinstance(d, ast.FunctionDef) and d.name == "__init__"), None)
    if init is None or name in _attributes(owner):
        return ""
    if name in [a.arg for a in (*init.args.args, *init.args.kwonlyargs)]:
        return f"`__init__` is given `{name}`"
    stored = [n for n in ast.walk(init) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return f"`__init__` makes `{name}`" if name in [n.id for n in stored] else ""


def _of_module(module: str, name: str) -> str:
    """What it is called, or where it is."""
    places = {"torch": torch, "nn": nn, "F": F, "torch.optim": torch.optim}
    if module == "torch" and name in OF_TORCH:
        return f"torch's way: {OF_TORCH[name]}"
    if not module.startswith("torch"):
        return ""
    if name in IMPORTS:
        return f"it is somewhere else: `{IMPORTS[name]}`"
    here = {"torch": "torch", "torch.nn": "nn", "torch.nn.functional": "F"}.get(module, module)
    if here in places:
        same = next((n for n in dir(places[here]) if n.lower() == name.lower()), "")
        if same:
            return f"it is spelled `{here}.{same}`"
    for short, place in places.items():
        wanted = name if short != "nn" else name[:1].upper() + name[1:]
        if hasattr(place, wanted):
            return f"it is in another part of torch: `{short}.{wanted}`"
        same = next((n for n in dir(place) if n.lower() == name.lower()), "") if short in ("nn", "F") else ""
        if same:
            return f"it is in another part of torch: `{short}.{same}`"
    if hasattr(torch.Tensor, name):
        return f"it is a method of tensors: `x.{name}(…)`"
    near = get_close_matches(name, _names(places[here]), n=1, cutoff=0.75) if here in places else []
    return f"is `{here}.{near[0]}` meant?" if near else ""
