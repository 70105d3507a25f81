"""What raises nothing and cannot be meant so: read off the source alone, told beside a check that failed."""

import ast
import re
from collections.abc import Callable, Iterator

from torch import nn

from grader.diagnose.idioms.classes import lost_layer, misspelled, no_module, not_applied
from grader.diagnose.idioms.gradients import no_backward
from grader.diagnose.idioms.results import (
    floored,
    lost_output,
    no_return,
    of_pair,
    one_number,
    second_name,
    uncalled_result,
    unreached,
)
from grader.diagnose.idioms.site import last_name, text
from grader.diagnose.idioms.sources import (
    functions,
    is_tensor,
    own_nodes,
    returns_nothing,
    tensors_in,
    uncalled,
)

CHECKS = ("is_available", "is_initialized", "all", "any", "is_contiguous")
_NEW = (
    "detach reshape view permute transpose clone add sub mul div clamp masked_fill unsqueeze squeeze flatten"
    " softmax relu exp sqrt abs long bool int expand repeat flip roll to float double half cpu cuda sum mean"
    " scatter index_fill contiguous"
)
ALWAYS_NEW = frozenset(_NEW.split())
LOSSES = re.compile(r"\w+Loss$")
RUN_AS = (
    "ReLU",
    "Sigmoid",
    "Tanh",
    "GELU",
    "SiLU",
    "Softmax",
    "LogSoftmax",
    "Softplus",
    "Flatten",
    "LeakyReLU",
)


def idiom_in(
    tree: ast.Module, about: str = "", line: int = 0, *, certain: bool = False, is_one: bool = False
) -> str:
    """The first of these in the functions and classes that `about` names, or else anywhere; "" for none.

    Args:
        line: the one that raised, in its function alone.
        certain: of those alone that nobody can mean.
        is_one: whether one number came back where several are wanted.
    """
    around = [d for d in tree.body if d.lineno <= line <= (d.end_lineno or 0)]
    for part in _concerned(tree, getattr(around[0], "name", "") if around else about):
        for idiom in CERTAIN if certain else (*CERTAIN, *SILENT):
            if told := idiom(part, tree):
                return told
        if is_one and (told := one_number(part)):
            return told
    return ""


def _concerned(tree: ast.Module, about: str) -> Iterator[ast.AST]:
    """What a sentence names, and what is called from there."""
    own = {d.name: d for d in tree.body if isinstance(d, (ast.FunctionDef, ast.ClassDef))}
    reached = [name for name in own if re.search(rf"\b{name}\b", about)] or list(own)
    for name in reached:  # which grows
        called = (last_name(n) for n in ast.walk(own[name]) if isinstance(n, (ast.Name, ast.Attribute)))
        reached += [n for n in dict.fromkeys(called) if n in own and n not in reached]
    return (own[name] for name in reached)


def _alone(part: ast.AST, _: ast.Module) -> str:
    return uncalled(part)


def _always_true(part: ast.AST, _: ast.Module) -> str:
    """A function where its answer is wanted."""
    for node in ast.walk(part):
        asked: list[ast.expr] = []
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            asked = [node.test]
        elif isinstance(node, ast.BoolOp):
            asked = node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            asked = [node.operand]
        for test in asked:
            if isinstance(test, ast.Attribute) and test.attr in CHECKS:
                return f"`{text(test)}` without `()` is the function itself, which counts as true"
    return ""


def _dropped(part: ast.AST, _: ast.Module) -> str:
    """A new tensor that nothing keeps."""
    for function in functions(part):
        tensors = tensors_in(function)
        for node in own_nodes(function):
            if not isinstance(node, ast.Expr):
                continue
            value = node.value
            if isinstance(value, ast.BinOp) and is_tensor(value, tensors):
                return f"`{text(value)}` alone on its line is computed, and dropped"
            func = value.func if isinstance(value, ast.Call) else None
            if not isinstance(func, ast.Attribute):
                continue
            args = value.args  # type: ignore[attr-defined]
            made_of = args[:1] if text(func.value) in ("torch", "F") else [func.value]
            is_kept = any(k.arg in ("out", "inplace") for k in value.keywords)  # type: ignore[attr-defined]
            held = {n.id for part in made_of for n in ast.walk(part) if isinstance(n, ast.Name)} & tensors
            if (
                func.attr in ALWAYS_NEW
                and held
                and not is_kept
                and all(is_tensor(m, tensors) for m in made_of)
            ):
                return f"`{text(value)}` makes a new tensor, which nothing keeps: `x = …`"
    return ""


def _no_effect(part: ast.AST, _: ast.Module) -> str:
    """A line that only looks as if it did something."""
    for node in ast.walk(part):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq):
            return f"`{text(value)}` compares, and changes nothing: one `=` sets"
        if isinstance(value, ast.Call) and last_name(value.func) in (
            "no_grad",
            "enable_grad",
            "inference_mode",
        ):
            return (
                f"`{text(value)}` alone on its line does nothing: `with {text(value)}:`, and a block below it"
            )
    return ""


def _places(part: ast.AST, _: ast.Module) -> str:
    taken_apart: list[ast.AST] = []
    for node in ast.walk(part):  # from the outside in
        if isinstance(node, ast.Subscript):
            taken_apart.append(node.value)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            taken_apart.append(node.value)
        is_where = isinstance(node, ast.Call) and text(node.func) == "torch.where"
        if is_where and node not in taken_apart and len(node.args) == 1 and not node.keywords:  # type: ignore[attr-defined]
            return "`torch.where` of a condition alone gives the places, a tensor for each dim"
    return ""


def _nothing_kept(part: ast.AST, tree: ast.Module) -> str:
    """What returns None is given a name, or returned."""
    for node in ast.walk(part):
        is_kept = isinstance(node, (ast.Assign, ast.Return)) and isinstance(node.value, ast.Call)
        if is_kept and (told := returns_nothing(node.value, tree)):  # type: ignore[attr-defined]
            return told
    return ""


def _first_turn(part: ast.AST, _: ast.Module) -> str:
    for node in ast.walk(part):
        is_loop = isinstance(node, (ast.For, ast.While)) and isinstance(node.body[-1], ast.Return)
        if is_loop and not any(isinstance(n, ast.Continue) for n in ast.walk(node)):
            return "`return` at the end of a loop's body leaves it in its first turn: further to the left?"
    return ""


def _unordered(part: ast.AST, _: ast.Module) -> str:
    """The items of a set, in whatever order they come."""
    for node in ast.walk(part):
        args = node.args if isinstance(node, ast.Call) else []
        name = last_name(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, (ast.For, ast.comprehension)):
            args, name = [node.iter], "for"
        for arg in args if name in ("list", "tuple", "enumerate", "for") else ():
            is_set = isinstance(arg, ast.Call) and last_name(arg.func) == "set"
            if is_set or isinstance(arg, (ast.Set, ast.SetComp)):
                return f"a set has no order: `sorted({text(arg)})` has one"
    return ""


def _of_python(part: ast.AST, _: ast.Module) -> str:
    """Python's own function, which goes through the rows."""
    own = {"sum": "adds up the rows", "max": "compares rows", "min": "compares rows", "list": "", "len": ""}
    for function in functions(part):
        tensors = tensors_in(function)
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
                does, arg = own.get(node.func.id, ""), node.args[0]
                if does and is_tensor(arg, tensors):
                    called = f"`{text(arg)}.{node.func.id}()`" if isinstance(arg, ast.Name) else "torch's"
                    return (
                        f"Python's `{node.func.id}` {does} of a tensor: {called} takes all numbers, or a dim"
                    )
    return ""


def _not_run(part: ast.AST, _: ast.Module) -> str:
    """`nn.ReLU(x)`: a layer with x for a setting."""
    for function in functions(part):
        tensors = tensors_in(function)
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and node.args and is_tensor(node.args[0], tensors):
                name = last_name(node.func)
                if hasattr(nn, name) and (name in RUN_AS or LOSSES.match(name)):
                    code = text(node.func)
                    given = ", ".join(map(text, node.args))
                    return f"`{code}(…)` makes a layer, and does not run it: `{code}()({given})`"
    return ""


CERTAIN: tuple[Callable[[ast.AST, ast.Module], str], ...] = (
    _alone,
    _always_true,
    _no_effect,
    _not_run,
    no_backward,
    uncalled_result,
    lost_output,
    floored,
    misspelled,
    no_module,
    not_applied,
)
SILENT: tuple[Callable[[ast.AST, ast.Module], str], ...] = (
    _nothing_kept,
    lost_layer,
    _dropped,
    _first_turn,
    unreached,
    no_return,
    _unordered,
    _of_python,
    _places,
    of_pair,
    second_name,
)
