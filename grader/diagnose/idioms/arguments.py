"""A call of torch's that is given something else than it takes."""

import ast
import inspect
import re
from collections.abc import Iterator
from difflib import get_close_matches

from torch import Tensor, nn

from grader.diagnose.idioms.site import Site, last_name, text

JOINERS = ("cat", "concat", "concatenate", "stack", "vstack", "hstack", "dstack")
_SIZED = (
    "reshape view zeros ones empty rand randn full repeat expand tile unflatten range chunk split narrow eye"
    " Linear Embedding LSTM GRU RNN Conv1d Conv2d"
)
SIZED = frozenset(_SIZED.split())
WHOLE = ("argument", "positional", "slice indices", "as an integer", "indices must be", "invalid combination")
OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")


def of_arguments(message: str, site: Site) -> str:
    """A call of torch's that is given something else than it takes."""
    call = site.one(ast.Call)
    if call is None:
        return _division(message, site)
    name, given = last_name(call.func), ", ".join(text(a) for a in call.args)
    for keyword in call.keywords:
        if keyword.arg in ("axis", "keepdims") and re.search(rf"'{keyword.arg}'|{keyword.arg}=", message):
            return f"here it is called `{ {'axis': 'dim', 'keepdims': 'keepdim'}[keyword.arg] }`"
    if name in JOINERS and re.search(r"tuple of Tensors, not|positional arguments? but", message):
        many = f"[{given}]" if len(call.args) > 1 else "[a, b]"
        return f"`{name}` takes its tensors in one list: `{text(call.func)}({many})`"
    if told := _sizes(message, call, name) or _division(message, site):
        return told
    if found := re.search(r'(\w+)\(\) missing \d+ required positional arguments?: "([^:]*)"$', message):
        names = found[2].replace('"', "")
        if names == "dim":
            return f"along which dim? `dim=-1` is the last: `{found[1]}(…, dim=-1)`"
        return f"`{found[1]}` wants to be told more: {names}"
    if told := _too_few(message):
        return told
    if name in OPTIMIZERS and re.search(
        r"'\w+' object is not iterable|params argument given|one of the params is", message
    ):
        return f"an optimizer takes what learns: `{name}(model.parameters(), …)`"
    if name == "einsum" and call.args and not isinstance(site.value(call.args[0]), str):
        return 'einsum takes the letters, then the tensors: `torch.einsum("ij->ji", x)`'
    if name == "Generator" and call.args:
        return "a generator is made first, and seeded then: `torch.Generator().manual_seed(seed)`"
    if found := re.search(r"got an unexpected keyword argument '(\w+)'", message):
        return _nearly(found[1], site.value(call.func))
    if found := re.search(r"^(\w+)\.__init__\(\) missing \d+ required positional arguments?: (.*)", message):
        told = found[2].replace("'", "")
        return f"`{name}` wants to be told more: {told}" if name == found[1] and hasattr(nn, name) else ""
    if name == "Parameter" and "no attribute 'detach'" in message:
        return "nn.Parameter takes a tensor: `nn.Parameter(torch.ones(…))`, `nn.Parameter(torch.tensor(…))`"
    if found := re.search(r"failed to unpack .*but got (?:torch\.)?(\w+)\"", message):
        what = {"Size": "a whole shape", "Tensor": "a tensor", "float": "a float (`/` makes one, `//` none)"}
        got = what.get(found[1], f"a {found[1]}")
        return f"a layer's sizes are whole numbers, and one of these is {got}: `x.shape[-1]` is the last size"
    return ""


def _nearly(name: str, function: object) -> str:
    """The argument that a function has instead."""
    try:
        names = inspect.signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    near = get_close_matches(name, names, n=1)
    return f"is `{near[0]}=` meant?" if near else ""


def _too_few(message: str) -> str:
    """What none of the ways to call it can do without."""
    found = re.search(r"(\w+)\(\) received an invalid combination of arguments - got \(([^)]*)\)", message)
    if found and re.match(r"(?:int|float|str|tuple|list), Tensor", found[2]):
        ways = re.findall(r"^ \* \((.*)\)$", message, re.M)
        return (
            f"the tensor comes first: `{found[1]}(x, …)`" if all(w.startswith("Tensor") for w in ways) else ""
        )
    given = [kind for kind in found[2].split(", ") if kind and "=" not in kind] if found else []
    ways = re.findall(r"^ \* \((.*)\)$", message, re.M)
    plain = [way.partition("*")[0].rstrip(", ") for way in ways if "Tensor out" in way]
    needed = [re.findall(r"(\w+)(?=, |$)", way) for way in plain]
    if found is None or not needed or "=" in found[2] or any(len(names) <= len(given) for names in needed):
        return ""
    fewest: list[str] = min(needed, key=len)
    return f"`{found[1]}` wants to be told more: {', '.join(fewest)}"


def _sizes(message: str, call: ast.Call, name: str) -> str:
    """Sizes that lack their bracket."""
    args = [text(a) for a in call.args]
    if any(isinstance(a, (ast.Tuple, ast.List, ast.Starred)) for a in call.args):
        return ""
    if name == "full" and len(args) >= 2 and re.search(r"tuple of ints, not int|positional arg", message):
        sizes = ", ".join(args[:-1]) + ("," if len(args) == 2 else "")
        return f"the sizes go into a bracket of their own: `{text(call.func)}(({sizes}), {args[-1]})`"
    if name in ("randint", "normal") and len(args) == 3 and "invalid combination" in message:
        return f"the size is a tuple: `{text(call.func)}({args[0]}, {args[1]}, ({args[2]},))`"
    return ""


def _division(message: str, site: Site) -> str:
    """A float, or a tensor, where a whole number is wanted: a size, a place."""
    if not any(words in message for words in WHOLE) or "failed to unpack" in message:
        return ""
    call, index = site.one(ast.Call), site.one(ast.Subscript)
    if index is not None:
        within = list(_bare(index.slice))
    elif call is not None and last_name(call.func) in SIZED:
        given = [*call.args, *(k.value for k in call.keywords)]
        within = [part for each in given for part in (each, *getattr(each, "elts", ()))]
    else:
        return ""
    for part in within:
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            return f"`{text(part)}` is a float, as `/` makes it, and a whole number is wanted: `//`"
        if isinstance(part, ast.Name) and type(site.value(part)) is float:
            return f"`{part.id}` is a float, and a whole number is wanted: `//` makes one, `/` does not"
        if (
            index is None
            and isinstance(part, ast.Name)
            and isinstance(site.value(part), Tensor)
            and len(within) > 1
        ):
            return f"`{part.id}` is a tensor, and a size is a whole number: `len({part.id})`, say"
    return ""


def of_scores(message: str, site: Site) -> str:
    """Scores are compared with the numbers of classes."""
    compared = site.one(ast.Compare)
    if compared is None or "must match the size of tensor" not in message:
        return ""
    for one, other in ((compared.left, compared.comparators[0]), (compared.comparators[0], compared.left)):
        held, labels = site.value(one), site.value(other)
        is_run = isinstance(one, ast.Call) and isinstance(site.value(one.func), nn.Module)
        is_table = isinstance(held, Tensor) and held.is_floating_point() and held.ndim > 1
        is_of_classes = isinstance(labels, Tensor) and not labels.is_floating_point() and labels.ndim == 1
        if is_of_classes and (is_run or is_table):
            return f"`{text(one)}` holds a score for each class: `.argmax(dim=-1)` makes classes of them"
    return ""


def _bare(node: ast.AST) -> Iterator[ast.AST]:
    """All parts of an expression, but for what calls make something else of."""
    yield node
    for child in ast.iter_child_nodes(node) if not isinstance(node, ast.Call) else ():
        yield from _bare(child)
