"""What a line of the answer and the error that it raised tell together: calls that cannot be meant so."""

import ast
import builtins
import inspect
import math
import re
from collections.abc import Callable

import torch
from torch import nn

from grader.diagnose.idioms.arguments import of_arguments, of_scores
from grader.diagnose.idioms.site import UNKNOWN, Site, factors, last_name, operands, text
from grader.diagnose.idioms.sources import returns_nothing, uncalled

ROUTINE = r"'(?:builtin_function_or_method|method|function|method_descriptor|getset_descriptor)'"
ROUTINES = rf"{ROUTINE}|not (?:builtin_function_or_method|method|function)\b|<class 'method'>"
PICKERS = ("max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin")


HOLDERS = ("Tensor", "Parameter", "Size", "list", "tuple", "dict", "ndarray")
"""Kinds of things that square brackets pick from."""


def of_call(message: str, site: Site) -> str:
    """Something is called that is no function, or a function stands where its result is wanted."""
    found = re.search(r"'(\w+)' object is not subscriptable", message)
    index = site.one(ast.Subscript)
    if found and index and isinstance(site.value(index.value), nn.Module):
        return f"`{text(index.value)}` is a layer: `{text(index.value)}(…)` runs it, with round brackets"
    found = re.search(r"'([\w.]+)' object is not callable", message)
    call = site.one(ast.Call)
    if not found or call is None:
        return _uncalled(message, site)
    func, kind = call.func, found[1].rpartition(".")[2]
    if kind == "module":
        return _of_module(func, site)
    if isinstance(func, ast.Attribute) and func.attr == "requires_grad":
        return f"`{text(func)}` tells; `{text(func)}_()`, with an underscore, switches it on"
    if isinstance(func, ast.Attribute) and call.args and func.attr in ("dtype", "device"):
        return (
            f"`{text(func)}` only tells: `{text(func.value)}.to({text(call.args[0])})` returns such a tensor"
        )
    if isinstance(func, ast.Attribute) and call.args and kind in HOLDERS:
        return f"`{text(func)}` is no function: `{text(func)}[…]` picks from it"
    if isinstance(func, ast.Attribute) and kind != "NoneType":
        return f"`{text(func)}` is a value, no function: leave out the `()` behind it"
    if isinstance(func, ast.Name) and func.id in vars(builtins) and func.id in site.names:
        return f"`{func.id}` is a name of your own here, no longer Python's function: call it something else"
    if isinstance(func, ast.Name) and kind in HOLDERS:
        return f"`{func.id}` is no function: `{func.id}[…]` picks from it"
    if isinstance(func, ast.Constant) or kind in ("int", "float"):
        return f"`{text(func)}` is a number, no function: is a `*` missing before the bracket?"
    return ""


def _of_module(func: ast.expr, site: Site) -> str:
    """`nn.parameter(…)`, `torch.utils.checkpoint(…)`: what is meant has the same name, or nearly."""
    module, name = site.value(func), last_name(func)
    inside = next((n for n in dir(module) if n.lower() == name.lower()), "")
    if not inside:
        return f"`{text(func)}` is a module: a function in it is meant"
    beside = f"{text(func)[: -len(name)]}{inside}"
    named = beside if inside != name else f"{text(func)}.{name}"
    return f"`{text(func)}` is a module: `{named}`"


def _uncalled(message: str, site: Site) -> str:
    """`x.size[0]`, `model.parameters` in a loop: the function itself, and not what it returns."""
    if "context manager" in message or "__enter__" in message:
        block = site.one(ast.With)
        node = block.items[0].context_expr if block else site.one(ast.Attribute) or site.one(ast.Name)
        is_class = "'type'" in message and isinstance(node, (ast.Attribute, ast.Name))
        return f"`{text(node)}` is called: `with {text(node)}():`" if node and is_class else ""
    if not re.search(ROUTINES, message):
        return ""
    parts = [part for node in site.nodes for part in (node, *operands(node))]
    names = [part for part in parts if isinstance(part, (ast.Attribute, ast.Name))]
    sure = [n for n in names if inspect.isroutine(site.value(n))]
    maybe = [n for n in names if isinstance(n, ast.Attribute) and site.value(n) is UNKNOWN]
    if isinstance(node := site.one(ast.Attribute), ast.Attribute) and isinstance(node.value, ast.Attribute):
        maybe = [node.value]  # it has no such attribute
    told = {text(n) for n in sure or maybe}
    if len(told) != 1:
        return "a function stands here where what it returns is wanted: `()` behind it is missing"
    (name,) = told
    return f"`{name}` is a function: `{name}()` calls it"


def of_none(message: str, site: Site) -> str:
    """What is None, where something is done with it."""
    if not re.search(r"'NoneType'|not NoneType|non-iterable NoneType", message):
        return ""
    for part in [part for node in site.nodes for part in (node, *operands(node))]:
        if isinstance(part, ast.Attribute) and part.attr == "grad" and site.value(part) in (None, UNKNOWN):
            why = "no backward has reached it, or it is no leaf"
            return uncalled(site.tree) or f"`{text(part)}` is None: {why} (`w = w - …` makes a new one)"
        if isinstance(part, ast.Call) and (told := returns_nothing(part, site.tree, True)):
            return told
        if isinstance(part, ast.Name) and site.value(part) is None:
            scope = site.holder(ast.FunctionDef) or site.tree
            for node in ast.walk(scope):
                is_call = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
                is_set = is_call and part.id in map(last_name, node.targets)  # type: ignore[attr-defined]
                if is_set and (told := returns_nothing(node.value, site.tree, True)):  # type: ignore[attr-defined]
                    return told
    return ""


def of_callback(message: str, site: Site) -> str:
    """A function of the answer's own that something else calls, a hook say."""
    found = re.search(r"(\w+)\(\) takes (\d+) positional arguments? but (\d+) w(?:as|ere) given", message)
    call = site.one(ast.Call)
    if not found or call is None or last_name(call.func) == found[1]:
        return ""
    own = any(isinstance(n, ast.FunctionDef) and n.name == found[1] for n in ast.walk(site.tree))
    many = "arguments" if found[2] != "1" else "argument"
    return f"`{found[1]}` takes {found[2]} {many}, and is called with {found[3]}" if own else ""


_OF_KIND: dict[str, str] = {
    "list": "a Python list: `torch.tensor(…)` makes a tensor of numbers, `torch.stack(…)` one of tensors",
    "tuple": "a tuple, no tensor: take the item that is wanted",
    "ndarray": "a NumPy array: `torch.from_numpy(…)` makes a tensor of it",
    "float": "a Python number, no tensor: `torch.tensor(…)` makes one of it",
    "int": "a Python number, no tensor: `torch.tensor(…)` makes one of it",
    "bool": "a Python bool, no tensor: `torch.tensor(…)` makes one of it",
    "Size": "a shape, no tensor: `torch.zeros(shape)` makes a tensor of that shape",
}


def of_kind(message: str, site: Site) -> str:
    """Something else stands where a tensor is wanted."""
    if found := re.search(r"'torch\.return_types\.(\w+)'", message):
        return _two_things(found[1]) if found[1] in PICKERS else ""
    if "to tuple" in message or "'tuple'" in message:
        for part in [part for node in site.nodes for part in operands(node)]:
            if isinstance(part, ast.Call) and (name := last_name(part.func)) in PICKERS:
                return _two_things(name)
    if isinstance(pair := site.one(ast.BinOp), ast.BinOp):
        for part in factors(pair):
            held = site.value(part)
            if type(held) is tuple and any(isinstance(item, torch.Tensor) for item in held):
                return f"`{text(part)}` is a tuple, no tensor: take its items out, as in `(x,) = …`"
    found = re.search(r"(\w+)\(\): argument '\w+' \(position \d+\) must be Tensor, not ([\w.]+)", message)
    call = site.one(ast.Call)
    if found and call and len(call.args) > 1 and "(position 1)" in message:
        others = [text(a) for a in call.args[1:] if isinstance(site.value(a), torch.Tensor)]
        if others and found[2] in ("int", "float", "str", "NoneType"):
            return f"the tensor comes first: `{text(call.func)}({others[0]}, …)`"
    if found and found[1] in ("linear", "embedding", "conv2d") and found[2] == "int":
        made = {"linear": "Linear", "embedding": "Embedding", "conv2d": "Conv2d"}[found[1]]
        return (
            f"`F.{found[1]}` computes with weights that it is given: `nn.{made}` makes a layer with its own"
        )
    if found and found[2] in ("float", "int") and callable(getattr(math, found[1], None)):
        return f"`{found[1]}` of torch takes tensors: `math.{found[1]}` is the one for Python numbers"
    lacks = re.search(r"'(?:[\w.]+\.)?(\w+)' object has no attribute '(\w+)'", message)
    if lacks and not hasattr(torch.Tensor, lacks[2]):
        return ""
    kind = found[2].rpartition(".")[2] if found else lacks[1] if lacks else ""
    if not kind and (left := re.search(r"operand type\(s\) for .*?'(\w+)'", message)):
        kind = left[1] if isinstance(getattr(nn, left[1], None), type) else ""
    layer = getattr(nn, kind, None)
    is_layer = isinstance(layer, type) and issubclass(layer, nn.Module)
    if is_layer and not (lacks and lacks[2] in ("device", "dtype", "grad", "data", "requires_grad")):
        return f"a layer, and not what it makes of x: `nn.{kind}(…)(x)`, or `layer = …`, then `layer(x)`"
    if kind == "ndarray" and lacks and lacks[2] == "numpy":
        return "it is a NumPy array already"
    if kind in ("float", "int") and lacks and lacks[2] in ("backward", "item", "grad"):
        return f"a Python number has no `{lacks[2]}`: it stays a tensor without `.item()` and `float(…)`"
    return _OF_KIND.get(kind, "")


def _two_things(name: str) -> str:
    return f"`{name}` along a dim returns two things: take its `.values` or its `.indices`"


def of_truth(message: str, site: Site) -> str:
    """One True or False is asked of many."""
    if "Boolean value of Tensor" not in message:
        return ""
    call = site.one(ast.Call)
    if call is not None and (name := text(call.func)) in ("max", "min", "sorted"):
        own = "sort" if name == "sorted" else name
        what = text(call.args[0]) if call.args and isinstance(call.args[0], ast.Name) else "x"
        return f"Python's `{name}` compares whole rows: `{what}.{own}()` is torch's"
    compare = site.one(ast.Compare)
    if compare is not None and len(compare.ops) > 1:
        return "`a < x < b` asks for one True or False: `(a < x) & (x < b)` compares place by place"
    if isinstance(boolean := site.holder(ast.BoolOp), ast.BoolOp):
        word, sign = ("and", "&") if isinstance(boolean.op, ast.And) else ("or", "|")
        return f"`{word}` asks for one True or False: `{sign}` works place by place, each side in brackets"
    return ""


def of_one(message: str, site: Site) -> str:
    """One number is made of many."""
    one = "only one element tensors can be converted|only integer tensors of a single element"
    call = site.one(ast.Call)
    if re.search(one, message) and call is not None:
        name = text(call.func)
        if name.startswith("math.") and hasattr(torch, last_name(call.func)):
            return f"`{name}` takes one number: `torch.{last_name(call.func)}` takes tensors"
        if last_name(call.func) == "tensor":
            return "`torch.tensor` makes a tensor of numbers: `torch.stack` makes one of tensors"
        if name in ("int", "float", "bool", "round", "range"):
            return f"`{name}` takes one number, and this tensor holds many"
    return ""


def _of_one_number(site: Site) -> str:
    """`values, places = x.max()`, or a loop over a mean."""
    assign = site.holder(ast.Assign)
    call = assign.value if assign else None
    if isinstance(call, ast.Call) and last_name(call.func) in PICKERS:
        called = f"{text(call.func)}({', '.join([*map(text, call.args), 'dim=…'])})"
        return f"`{text(call)}` is one number of all: `{called}` gives values and their places"
    return "one number (0-d), where several are taken out of it"


def of_loop(message: str, site: Site) -> str:
    """A loop over one number, and names that take other than so many values."""
    found = re.search(r"'(int|float)' object is not iterable", message)
    loops = [n for n in ast.walk(site.tree) if isinstance(n, (ast.For, ast.comprehension))]
    for loop in loops if found else ():
        is_length = isinstance(loop.iter, ast.Call) and text(loop.iter.func) == "len"
        is_here = loop.iter.lineno == site.line
        if is_here and (is_length or type(site.value(loop.iter)) in (int, float)):
            return f"`for` goes through many, and this is one number: `range({text(loop.iter)})`"
    if "iteration over a 0-d tensor" in message:
        return _of_one_number(site)
    counts = re.search(r"(not enough|too many) values to unpack \(expected (\d+)(?:, got (\d+))?\)", message)
    assign = site.holder(ast.Assign) if counts else None
    if counts is None or assign is None:
        return ""
    if last_name(assign.value) == "shape" or last_name(getattr(assign.value, "func", assign)) == "size":
        dims = counts[3] or "more"
        return (
            f"`{text(assign.value)}` holds one size for each dim, and the tensor has {dims}, not {counts[2]}"
        )
    layer = site.value(assign.value.func) if isinstance(assign.value, ast.Call) else None
    if isinstance(layer, nn.LSTM):
        return "an LSTM returns two things, and the second is a pair: `outputs, (h, c) = lstm(x)`"
    return ""


Slip = Callable[[str, Site], str]
SURE: tuple[Slip, ...] = (of_callback, of_truth)
"""Those that know more than an author who expects the same error."""
SLIPS: tuple[Slip, ...] = (*SURE, of_call, of_none, of_arguments, of_scores, of_one, of_loop, of_kind)
