"""Answers to shape_trace that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BEGIN = """        latest[module] = Call(name, type(module).__name__, _shapes((args, kwargs)))
        rows.append(latest[module])
"""
END = "        latest[module].outputs = _shapes(output)\n"
MODULES = "model.named_modules():\n"
TAKES = "            hooks.append(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))\n"
GIVES = "            hooks.append(module.register_forward_hook(end))\n"
INNER = "        return [shape for item in value for shape in _shapes(item)]\n"
DICT = "    if isinstance(value, dict):\n        value = list(value.values())\n"
FINALLY = "    finally:\n        for hook in hooks:\n            hook.remove()\n"
YIELD = "        yield rows\n"

CALL = """
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
"""

SPECIMENS = [
    Wrong(
        "as torchsummary has it: one hook, after the call",
        code=CALL
        + """
@contextmanager
def shape_trace(model):
    rows, handles = [], []

    def register(name):
        def hook(module, inputs, output):
            outputs = output if isinstance(output, (tuple, list)) else [output]
            shapes = [tuple(x.shape) for x in inputs]
            rows.append(Call(name, module.__class__.__name__, shapes, [tuple(o.shape) for o in outputs]))
        return hook

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(register(name)))
    try:
        yield rows
    finally:
        for handle in handles:
            handle.remove()
""",
        check="test_worked_example",
        says="when a call has ended",
        rung="job",
    ),
    Wrong(
        "a row for each module: the last call wins",
        edits=[
            (
                BEGIN,
                "        if module not in latest:\n    "
                + BEGIN.replace("        rows", "            rows")
                + "        latest[module].inputs = _shapes((args, kwargs))\n",
            )
        ],
        check="test_called_twice",
        says="one row for each module",
        rung="job",
    ),
    Wrong(
        "a hook for each name of a shared module",
        edits=[(MODULES, "model.named_modules(remove_duplicate=False):\n")],
        check="test_called_twice",
        says="its first name is enough",
        rung="job",
    ),
    Wrong(
        "modules without parts only",
        edits=[(MODULES, MODULES + "            if list(module.children()):\n                continue\n")],
        check="test_worked_example",
        says="the model itself has a row",
        rung="job",
    ),
    Wrong(
        "the model and its direct children only",
        edits=[(MODULES, '[("", model), *model.named_children()]:\n')],
        check="test_order_and_names",
        says="only the model's own parts",
        rung="job",
    ),
    Wrong(
        "every module at the start, called or not",
        edits=[
            (BEGIN, "        latest[module].inputs = _shapes((args, kwargs))\n"),
            (
                MODULES,
                MODULES
                + "            latest[module] = Call(name, type(module).__name__, [])\n"
                + "            rows.append(latest[module])\n",
            ),
        ],
        check="test_order_and_names",
        says="order of definition",
        rung="job",
    ),
    Wrong(
        "one level of nesting: the state of an LSTM is lost",
        edits=[
            (INNER, "        return [tuple(t.shape) for t in value if isinstance(t, torch.Tensor)]\n"),
            ("_shapes((args, kwargs))", "_shapes([*args, *kwargs.values()])"),
        ],
        check="test_tuples",
        rung="job",
    ),
    Wrong(
        "never removes its hooks",
        edits=[(FINALLY, "    finally:\n        pass\n")],
        check="test_no_hook_is_left",
        says="left on the modules",
        rung="job",
    ),
    Wrong(
        "removes its hooks only where all goes well",
        edits=[
            (
                YIELD + FINALLY,
                YIELD
                + "        for hook in hooks:\n            hook.remove()\n"
                + FINALLY.split("        for")[0]
                + "        pass\n",
            )
        ],
        check="test_error_reaches_the_caller",
        says="put it into `finally`",
        rung="job",
    ),
    Wrong(
        "swallows the error",
        edits=[(YIELD, YIELD + "    except Exception:\n        pass\n")],
        check="test_worked_example",
        says="no error",
        rung="job",
    ),
    Wrong(
        "positional arguments alone",
        edits=[
            ("module, args, kwargs):", "module, args):"),
            ("(args, kwargs)", "args"),
            (", with_kwargs=True", ""),
        ],
        check="test_nested_data",
    ),
    Wrong(
        "a stack, on which a call that raised stays",
        edits=[
            (
                BEGIN,
                BEGIN.replace("latest[module] =", "row =").replace(
                    "rows.append(latest[module])", "rows.append(row)\n        under_way.append(row)"
                ),
            ),
            (END, "        under_way.pop().outputs = _shapes(output)\n"),
            ("    hooks = []\n", "    hooks, under_way = [], []\n"),
        ],
        check="test_caught_errors",
    ),
    Wrong(
        "clears all hooks, also those of others",
        edits=[
            (
                FINALLY,
                "    finally:\n        for module in model.modules():\n"
                "            module._forward_hooks.clear()\n            module._forward_pre_hooks.clear()\n"
                "            module._forward_pre_hooks_with_kwargs.clear()\n",
            )
        ],
        check="test_hooks_of_others",
    ),
    Wrong(
        "traces in evaluation mode",
        edits=[("    hooks = []\n", "    hooks = []\n    model.eval()\n")],
        check="test_model_computes_the_same",
    ),
    Wrong(
        "keeps the tensors until the block ends",
        edits=[
            (END, "        latest[module].outputs = _shapes(output)\n        latest[module].kept = output\n")
        ],
        check="test_keeps_nothing_alive",
        says="alive",
    ),
    Wrong(
        "one list for all blocks",
        edits=[
            ("    rows: list[Call] = []\n", "    rows = _ROWS\n    rows.clear()\n"),
            ("def _shapes(", "_ROWS = []\n\n\ndef _shapes("),
        ],
        check="test_blocks_nest",
    ),
    Works(
        "as torchinfo has it: a pre-hook makes the row, a hook fills it in",
        code=CALL
        + """
def sizes(data):
    if isinstance(data, torch.Tensor):
        return [data.size()]
    if isinstance(data, (list, tuple)):
        return [size for item in data for size in sizes(item)]
    return []

@contextmanager
def shape_trace(model):
    summary_list, hooks = [], []

    def construct_hooks(name):
        info = None

        def pre_hook(module, inputs):
            nonlocal info
            info = Call(name, module.__class__.__name__, sizes(inputs))
            summary_list.append(info)

        def hook(module, inputs, outputs):
            info.outputs = sizes(outputs)

        return pre_hook, hook

    for name, module in model.named_modules():
        pre_hook, hook = construct_hooks(name)
        hooks.append(module.register_forward_pre_hook(pre_hook))
        hooks.append(module.register_forward_hook(hook))
    try:
        yield summary_list
    finally:
        for hook in hooks:
            hook.remove()
""",
    ),
    Works(
        "a stack of the calls under way",
        code=CALL
        + """
def shapes_of(x):
    if torch.is_tensor(x):
        return [tuple(x.shape)]
    if isinstance(x, (tuple, list)):
        return sum((shapes_of(y) for y in x), [])
    return []

@contextmanager
def shape_trace(model):
    rows, stack, handles = [], [], []
    names = {m: n for n, m in model.named_modules()}

    def pre(m, args):
        rows.append(Call(names[m], type(m).__name__, shapes_of(args)))
        stack.append(rows[-1])

    def post(m, args, out):
        stack.pop().outputs = shapes_of(out)

    for m in model.modules():
        handles += [m.register_forward_pre_hook(pre), m.register_forward_hook(post)]
    try:
        yield rows
    finally:
        for h in handles:
            h.remove()
""",
    ),
    Right(
        "wraps forward for as long as the block runs",
        edits=[
            (
                "    latest: dict[nn.Module, Call] = {}\n\n    def begin(name, module, args, kwargs):\n"
                + BEGIN
                + "\n    def end(module, _args, output):\n"
                + END
                + "\n    hooks = []\n",
                """
    def watch(name, module):
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
        "an ExitStack, a stack of calls with always_call, pytree",
        code=CALL
        + """
import contextlib
import sys
from torch.utils import _pytree

@contextmanager
def shape_trace(model):
    rows, under_way = [], []
    walk = lambda tree: [tuple(t.shape) for t in _pytree.tree_leaves(tree) if torch.is_tensor(t)]

    with contextlib.ExitStack() as stack:
        for name, part in model.named_modules():
            def before(module, args, kwargs, name=name):
                rows.append(Call(name, type(module).__name__, walk((args, kwargs))))
                under_way.append((rows[-1], sys.exc_info()[1]))

            def after(module, args, output):
                row, error = under_way.pop()
                if sys.exc_info()[1] is error:
                    row.outputs = walk(output)

            stack.callback(part.register_forward_pre_hook(before, with_kwargs=True).remove)
            stack.callback(part.register_forward_hook(after, always_call=True).remove)
        yield rows
""",
    ),
]
