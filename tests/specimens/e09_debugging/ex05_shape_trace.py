"""Answers to shape_trace that people write."""

from grader.authoring.specimen import Right, Wrong

BEGIN = """    def begin(name, module, args, kwargs):
        row = Call(name, type(module).__name__, _shapes((args, kwargs)))
        rows.append(row)
        under_way.append((module, row, sys.exc_info()[1]))
"""
END = """    def end(module, _args, output):
        while under_way:
            caller, row, error = under_way.pop()
            if caller is module:  # those above it were left by what is no Exception
                if sys.exc_info()[1] is error:  # no new one: this hook also runs after an error
                    row.outputs = _shapes(output)
                break
"""
MODULES = "model.named_modules():  # each module once, however many names it has\n"
TAKES = "            hooks.append(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))\n"
GIVES = "            hooks.append(module.register_forward_hook(end, always_call=True))\n"
INNER = "        return [shape for item in value for shape in _shapes(item)]\n"
DICT = "    if isinstance(value, dict):\n        value = tuple(value.values())\n"
FINALLY = """    finally:
        for hook in hooks:
            hook.remove()
"""
TRY = "    try:\n        for name"
YIELD = "        yield rows\n"

SPECIMENS = [
    Wrong(
        "a tensor that is given twice has one entry",
        edits=[
            (
                "for item in value for shape in _shapes(item)",
                "for item in {id(v): v for v in value}.values() for shape in _shapes(item)",
            )
        ],
        check="test_nested_data",
        says="generator",
    ),
    Wrong(
        "opens whatever can be iterated, and uses up generators",
        edits=[
            (
                "    if isinstance(value, (tuple, list)):",
                '    if hasattr(value, "__iter__") and not isinstance(value, str):',
            )
        ],
        check="test_nested_data",
        says="generator",
    ),
    Wrong(
        "removes the hooks after errors, and not after an interrupt",
        edits=[
            (
                "    finally:\n        for hook in hooks:\n            hook.remove()\n",
                "    except Exception:\n        [hook.remove() for hook in hooks]\n        raise\n"
                "    else:\n        [hook.remove() for hook in hooks]\n",
            )
        ],
        check="test_error_reaches_the_caller",
        says="KeyboardInterrupt",
    ),
    Wrong(
        "takes parameters for no tensors",
        edits=[("isinstance(value, torch.Tensor)", "type(value) is torch.Tensor")],
        check="test_nested_data",
    ),
    Wrong(
        "detaches the arguments",
        edits=[
            (
                TAKES,
                TAKES.replace(
                    "partial(begin, name)",
                    "lambda m, a, k, name=name: begin(name, m, a, k) or (tuple(x.detach() if isinstance(x, torch.Tensor) else x for x in a), k)",
                ),
            )
        ],
        check="test_model_computes_the_same",
        says="gradient",
    ),
    Wrong(
        "opens a list for good: its hook returns a tuple",
        edits=[
            (
                GIVES,
                GIVES.replace(
                    "end,", "lambda *call: end(*call) or (tuple(call[2]) if type(call[2]) is list else None),"
                ),
            )
        ],
        check="test_model_computes_the_same",
    ),
    Wrong(
        "one hook, after the call: inner modules come first, and what raises has no row",
        edits=[
            (
                END,
                """    def end(name, module, args, kwargs, output):
        rows.append(Call(name, type(module).__name__, _shapes((args, kwargs)), _shapes(output)))
""",
            ),
            (TAKES, ""),
            (
                GIVES,
                "            hooks.append(module.register_forward_hook(partial(end, name), with_kwargs=True))\n",
            ),
        ],
        check="test_order_and_names",
    ),
    Wrong(
        "a row for each module: the last call wins",
        edits=[
            (END, "    def end(module, _args, output):\n        of[module].outputs = _shapes(output)\n"),
            (
                BEGIN,
                """    of = {}

    def begin(name, module, args, kwargs):
        if module not in of:
            of[module] = Call(name, type(module).__name__, [])
            rows.append(of[module])
        of[module].inputs = _shapes((args, kwargs))
""",
            ),
        ],
        check="test_called_twice",
    ),
    Wrong(
        "looks for its row by module: one within itself gets the other's outputs",
        edits=[
            (END, "    def end(module, _args, output):\n        of[module].outputs = _shapes(output)\n"),
            (
                BEGIN,
                "    of = {}\n\n"
                + BEGIN.replace("under_way.append((module, row, sys.exc_info()[1]))", "of[module] = row"),
            ),
        ],
        check="test_calls_itself",
    ),
    Wrong(
        "takes the row on top of the stack, also of a call that has raised",
        edits=[
            (END, "    def end(_m, _args, output):\n        under_way.pop()[1].outputs = _shapes(output)\n")
        ],
        check="test_caught_errors",
    ),
    Wrong(
        "takes the latest row of the module: one within itself that has raised gets the other's outputs",
        edits=[
            (GIVES, GIVES.replace(", always_call=True", "")),
            ("if sys.exc_info()[1] is error:", "if True:"),
        ],
        check="test_caught_errors",
        says="within itself",
    ),
    Wrong(
        "fills the inputs in when the call returns",
        edits=[
            (BEGIN, BEGIN.replace("_shapes((args, kwargs))", "[]")),
            (
                END,
                END.replace("_args", "args, kwargs")
                .replace("row.outputs", "row.inputs, row.outputs")
                .replace("= _shapes(output)", "= _shapes((args, kwargs)), _shapes(output)"),
            ),
            (GIVES, GIVES.replace("(end, ", "(end, with_kwargs=True, ")),
        ],
        check="test_inputs_as_the_call_begins",
    ),
    Wrong(
        "positional arguments alone",
        edits=[
            (BEGIN, BEGIN.replace("args, kwargs)", "args)").replace("((args)", "(args")),
            (TAKES, TAKES.replace(", with_kwargs=True", "")),
        ],
        check="test_nested_data",
    ),
    Wrong(
        "a hook for each name of a shared module",
        edits=[(MODULES, "model.named_modules(remove_duplicate=False):\n")],
        check="test_called_twice",
    ),
    Wrong(
        "the last name of a shared module",
        edits=[
            (
                MODULES,
                "{m: n for n, m in model.named_modules(remove_duplicate=False)}.items():\n            name, module = module, name\n",
            )
        ],
        check="test_called_twice",
    ),
    Wrong(
        "modules without parts only",
        edits=[(MODULES, MODULES + "            if list(module.children()):\n                continue\n")],
        check="test_order_and_names",
    ),
    Wrong(
        "direct children only",
        edits=[(MODULES, '[("", model), *model.named_children()]:\n')],
        check="test_order_and_names",
    ),
    Wrong(
        "every module at the start, called or not",
        edits=[
            (
                MODULES,
                MODULES + "            rows.append(Call(name, type(module).__name__, [], None))\n",
            )
        ],
        check="test_order_and_names",
    ),
    Wrong("dicts are not opened", edits=[(DICT, "")], check="test_nested_data"),
    Wrong(
        "dicts by sorted keys",
        edits=[(DICT, DICT.replace("value.values()", "value[k] for k in sorted(value)"))],
        check="test_nested_data",
    ),
    Wrong(
        "one level of nesting",
        edits=[(INNER, "        return [tuple(t.shape) for t in value if isinstance(t, torch.Tensor)]\n")],
        check="test_nested_data",
    ),
    Wrong(
        "one entry, empty, for what is no tensor",
        edits=[("    return []\n", "    return [()]\n")],
        check="test_nested_data",
    ),
    Wrong(
        "no tensor at all is None",
        edits=[(END, END.replace("_shapes(output)", "_shapes(output) or None"))],
        check="test_nested_data",
    ),
    Wrong(
        "never removes its hooks",
        edits=[(FINALLY, "    finally:\n        pass\n")],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "removes its hooks only where all goes well",
        edits=[
            (
                FINALLY,
                "    except ZeroDivisionError:\n        pass\n    for hook in hooks:\n        hook.remove()\n",
            )
        ],
        check="test_error_reaches_the_caller",
    ),
    Wrong(
        "removes half of its hooks",
        edits=[(FINALLY, FINALLY.replace("in hooks", "in hooks[::2]"))],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "clears all hooks, also those of others",
        edits=[
            (
                FINALLY,
                """    finally:
        for module in model.modules():
            module._forward_hooks.clear()
            module._forward_pre_hooks.clear()
            module._forward_pre_hooks_with_kwargs.clear()
""",
            )
        ],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "puts back the hooks that it found: those added in the block are lost",
        edits=[
            (TRY, "    found = {m: m._forward_hooks.copy() for m in model.modules()}\n" + TRY),
            (
                FINALLY,
                FINALLY
                + "        for module, before in found.items():\n            module._forward_hooks = before\n",
            ),
        ],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "swallows the error",
        edits=[(YIELD, YIELD + "    except Exception:\n        pass\n")],
        check="test_error_reaches_the_caller",
    ),
    Wrong(
        "raises an error of its own",
        edits=[
            (
                YIELD,
                YIELD + "    except Exception as error:\n        raise RuntimeError(str(rows)) from error\n",
            )
        ],
        check="test_error_reaches_the_caller",
    ),
    Wrong(
        "hooks on all modules in the process",
        edits=[
            (
                TAKES + GIVES,
                """            names[module] = name
        takes = torch.nn.modules.module.register_module_forward_pre_hook
        gives = torch.nn.modules.module.register_module_forward_hook
        hooks.append(takes(lambda m, args: begin(names.get(m, "?"), m, args, {})))
        hooks.append(gives(end))
""",
            ),
            ("    hooks = []\n", "    hooks, names = [], {}\n"),
        ],
        check="test_blocks_nest",
    ),
    Wrong(
        "keeps the tensors",
        edits=[
            (BEGIN, BEGIN.replace("rows.append(row)", "rows.append(row)\n        row.args = args, kwargs"))
        ],
        check="test_keeps_nothing_alive",
    ),
    Wrong(
        "keeps the last output of each module on the module",
        edits=[
            (
                END,
                END.replace(
                    "                break\n",
                    "                module.last_output = output\n                break\n",
                ),
            )
        ],
        check="test_no_hook_is_left",
    ),
    Wrong(
        "detaches what comes out",
        edits=[
            (
                END,
                END + "        return output.detach() if isinstance(output, torch.Tensor) else None\n",
            )
        ],
        check="test_model_computes_the_same",
        says="",
    ),
    Wrong(
        "gives the shapes back in place of the output",
        edits=[(END, END + "        return rows if output is None else None\n")],
        check="test_model_computes_the_same",
    ),
    Wrong(
        "traces in evaluation mode",
        edits=[("    hooks = []\n", "    hooks = []\n    model.eval()\n")],
        check="test_model_computes_the_same",
    ),
    Wrong(
        "without gradients",
        edits=[(YIELD, "        with torch.no_grad():\n            yield rows\n")],
        check="test_model_computes_the_same",
    ),
    Wrong(
        "one list for all blocks",
        edits=[
            ("    rows: list[Call] = []\n", "    rows = _ROWS\n    rows.clear()\n"),
            ("def _shapes(", "_ROWS = []\n\n\ndef _shapes("),
        ],
        check="test_blocks_nest",
    ),
    Wrong(
        "one block at a time: an inner one ends the outer",
        edits=[
            ("    hooks = []\n", "    hooks = _HOOKS\n"),
            (FINALLY, FINALLY + "        hooks.clear()\n"),
            ("def _shapes(", "_HOOKS = []\n\n\ndef _shapes("),
        ],
        check="test_blocks_nest",
    ),
    Right(
        "a class whose hooks stay out of the way, and rows put in by index",
        code="""
import dataclasses
import sys
import weakref
from typing import NamedTuple

import torch


class Call(NamedTuple):
    name: str
    kind: str
    inputs: list
    outputs: list | None = None


class shape_trace:
    def __init__(self, model):
        self.model, self.rows, self.open, self.handles = model, [], [], []

    def __enter__(self):
        seen = set()
        for name, part in self.model.named_modules(remove_duplicate=False):
            if id(part) not in seen:
                seen.add(id(part))
                self.watch(name, part)
        return self.rows

    def watch(self, name, part):
        def before(module, args, kwargs):
            shapes = []
            walk([*args, *kwargs.values()], shapes)
            self.open.append((len(self.rows), sys.exc_info()[1]))
            self.rows.append(Call(name=name, kind=module.__class__.__name__, inputs=shapes))

        def after(module, args, kwargs, result):
            index, error = self.open.pop()
            if sys.exc_info()[1] is error:
                shapes = []
                walk([result], shapes)
                self.rows[index] = self.rows[index]._replace(outputs=shapes)

        self.handles.append(part.register_forward_pre_hook(before, with_kwargs=True))
        self.handles.append(part.register_forward_hook(after, with_kwargs=True, always_call=True))

    def __exit__(self, *error):
        while self.handles:
            self.handles.pop().remove()
        return False


def walk(items, shapes):
    for item in items:
        if torch.is_tensor(item):
            shapes.append(tuple(map(int, item.shape)))
        elif isinstance(item, dict):
            walk(item.values(), shapes)
        elif isinstance(item, (list, tuple)):
            walk(item, shapes)
""",
    ),
    Right(
        "wraps forward for as long as the block runs",
        edits=[
            (
                BEGIN + "\n" + END + "\n    hooks = []\n",
                """    def watch(name, module):
        def forward(*args, **kwargs):
            row = Call(name, type(module).__name__, _shapes((args, kwargs)))
            rows.append(row)
            output = inner(*args, **kwargs)
            row.outputs = _shapes(output)
            return output

        inner, own = module.forward, vars(module).get("forward")
        module.forward = forward
        return own

    wrapped = []
""",
            ),
            (TAKES + GIVES, "            wrapped.append((module, watch(name, module)))\n"),
            (
                FINALLY,
                """    finally:
        for module, own in wrapped:
            if own is None:
                del module.forward
            else:
                module.forward = own
""",
            ),
        ],
    ),
    Right(
        "pytree",
        edits=[
            (
                INNER,
                """        from torch.utils import _pytree

        return [tuple(t.shape) for t in _pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]
""",
            ),
            (DICT, ""),
            ("isinstance(value, (tuple, list))", "isinstance(value, (tuple, list, dict))"),
        ],
    ),
    Wrong(
        "reads the shapes of a list when the block ends",
        edits=[
            (
                "                    row.outputs = _shapes(output)\n",
                "                    row.outputs = output\n",
            ),
            (
                FINALLY,
                FINALLY + "        for row in rows:\n            if row.outputs is not None:\n"
                "                row.outputs = _shapes(row.outputs)\n",
            ),
        ],
        check="test_inputs_as_the_call_begins",
        says="adds to the list",
    ),
    Wrong(
        "takes its hooks off the modules that are there at the end",
        edits=[
            ("    hooks = []\n", "    hooks = {}\n"),
            (TAKES, TAKES.replace("hooks.append(", "hooks.setdefault(module, []).append(")),
            (GIVES, GIVES.replace("hooks.append(", "hooks[module].append(")),
            (
                FINALLY,
                """    finally:
        for module in model.modules():
            for hook in hooks.get(module, ()):
                hook.remove()
""",
            ),
        ],
        check="test_no_hook_is_left",
        says="replaced",
    ),
    Wrong(
        "opens whatever has attributes",
        edits=[
            (
                "    if isinstance(value, (tuple, list)):",
                '    if hasattr(value, "__dict__") and not isinstance(value, (tuple, list)):\n        value = list(vars(value).values())\n    if isinstance(value, (tuple, list)):',
            )
        ],
        check="test_nested_data",
        says="a dataclass",
    ),
    Wrong(
        "keeps the error in the row, and so the frames with their tensors",
        edits=[
            (
                "                    row.outputs = _shapes(output)\n",
                "                    row.outputs = _shapes(output)\n                else:\n                    row.error = sys.exc_info()[1]\n",
            )
        ],
        check="test_keeps_nothing_alive",
        says="which the model caught",
    ),
    Wrong(
        "wraps the calls of all modules, and forgets the keyword arguments of others",
        code="""
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

@dataclass
class Call:
    name: str
    kind: str
    inputs: list
    outputs: list | None = None

def shapes(value):
    if isinstance(value, torch.Tensor):
        return [tuple(value.shape)]
    value = list(value.values()) if isinstance(value, dict) else value
    return [s for item in value for s in shapes(item)] if isinstance(value, (tuple, list)) else []

@contextmanager
def shape_trace(model):
    rows, call = [], nn.Module.__call__
    names = {module: name for name, module in model.named_modules()}

    def traced(self, *args, **kwargs):
        if self not in names:
            return call(self, *args)
        rows.append(row := Call(names[self], type(self).__name__, shapes([args, kwargs])))
        result = call(self, *args, **kwargs)
        row.outputs = shapes(result)
        return result

    nn.Module.__call__ = traced
    try:
        yield rows
    finally:
        nn.Module.__call__ = call
""",
        check="test_blocks_nest",
    ),
    Wrong(
        "opens dataclasses as well",
        edits=[
            (
                DICT,
                '    if hasattr(value, "__dataclass_fields__"):\n        value = tuple(vars(value).values())\n'
                + DICT,
            )
        ],
        check="test_nested_data",
        says="a dataclass",
    ),
]
