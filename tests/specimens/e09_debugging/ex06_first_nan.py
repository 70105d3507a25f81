"""Answers to first_nan that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FINITE = "torch.isfinite(value).all()"
LOOK = "        if not _finite(output) and _finite((args, kwargs)):\n"
EACH = "        for name, module in model.named_modules():\n"
HOOK = "            hooks.append(module.register_forward_hook(partial(look, name), with_kwargs=True))\n"
REMOVE = "    finally:\n        for hook in hooks:\n            hook.remove()\n"
INPUTS = '    if not _finite(inputs):\n        raise ValueError("the inputs hold NaN or inf already")\n'
LAST = "    return found[0] if found else None\n"
DICT = "    if isinstance(value, dict):\n        value = list(value.values())\n"

SPECIMENS = [
    Wrong(
        "the last to emit: the model itself",
        edits=[(LOOK, "        if not _finite(output):\n"), ("found[0]", "found[-1]")],
        check="test_worked_example",
        says="the model returns last",
        rung="job",
    ),
    Wrong(
        "the class in place of the name",
        edits=[("partial(look, name)", "partial(look, type(module).__name__)")],
        check="test_worked_example",
        says="this is the class",
        rung="job",
    ),
    Wrong(
        "NaN alone",
        edits=[(FINITE, "not value.isnan().any()")],
        check="test_first_of_two",
        says="inf counts, too",
        rung="job",
    ),
    Wrong(
        "modules without parts only",
        edits=[(EACH, EACH + "            if list(module.children()):\n                continue\n")],
        check="test_own_code",
        says="those with parts have code of their own",
        rung="job",
    ),
    Wrong(
        "the model's own parts only, not theirs",
        edits=[(EACH, EACH.replace("named_modules", "named_children"))],
        check="test_anywhere",
        says="the module around the culprit",
        rung="job",
    ),
    Wrong(
        "the first in the order of definition",
        edits=[
            (
                LAST,
                "    return next((name for name, _ in model.named_modules() if name and name in found), None)\n",
            ),
            (LOOK, "        if not _finite(output):\n"),
        ],
        check="test_first_of_two",
        says="the order of the calls counts",
        rung="job",
    ),
    Wrong(
        "outputs that are tensors alone",
        edits=[
            (
                LOOK,
                LOOK.replace("if not", "if isinstance(output, Tensor) and not").replace(
                    " and _finite((args, kwargs))", ""
                ),
            )
        ],
        check="test_tuples",
        says="tuples are not looked into",
        rung="job",
    ),
    Wrong(
        "a loop over a Sequential by hand",
        code="""
import torch

def first_nan(model, inputs):
    x = inputs
    for name, layer in model.named_children():
        x = layer(x)
        if not torch.isfinite(x).all():
            return name
    return None
""",
        check="test_tuples",
        rung="job",
    ),
    Wrong(
        "leaves its hooks",
        edits=[(REMOVE, "    finally:\n        pass\n")],
        check="test_no_hook_is_left",
        says="with NaN",
        rung="job",
    ),
    Wrong(
        "removes its hooks where all goes well",
        edits=[
            (
                REMOVE,
                "    except ZeroDivisionError:\n        pass\n    for hook in hooks:\n        hook.remove()\n",
            )
        ],
        check="test_no_hook_is_left",
        says="with an error",
        rung="job",
    ),
    Wrong(
        "blames whatever emits NaN first, also what was given some",
        edits=[(LOOK, "        if not _finite(output):\n")],
        check="test_between_modules",
        says="not to blame",
    ),
    Wrong("looks at no inputs", edits=[(INPUTS, "")], check="test_bad_inputs", says="no error"),
    Wrong(
        "dicts are not opened",
        edits=[(DICT, "")],
        check="test_nested_data",
        says="dicts are not looked into",
    ),
    Wrong(
        "judges by the sum, which overflows",
        edits=[(FINITE, "torch.isfinite(value.sum())")],
        check="test_large_numbers",
        says="a sum overflows",
    ),
    Wrong(
        "in evaluation mode",
        edits=[("    found = []\n", "    found = []\n    model.eval()\n")],
        check="test_one_run",
    ),
    Works(
        "a forward hook that remembers names, as forums have it",
        code="""
import torch

def first_nan(model, inputs):
    bad, handles = [], []

    def make_hook(name):
        def hook(module, inp, out):
            outs = out if isinstance(out, tuple) else (out,)
            for o in outs:
                if torch.is_tensor(o) and (torch.isnan(o).any() or torch.isinf(o).any()):
                    bad.append(name)
                elif isinstance(o, tuple) and any(not torch.isfinite(t).all() for t in o):
                    bad.append(name)
        return hook

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(make_hook(name)))
    try:
        with torch.no_grad():
            model(inputs)
    finally:
        for h in handles:
            h.remove()
    return bad[0] if bad else None
""",
    ),
    Works(
        "stops the model by an error as soon as it is found",
        code="""
import torch

class Found(Exception):
    pass

def first_nan(model, inputs):
    def stop(name, output):
        parts = output if isinstance(output, (tuple, list)) else [output]
        for part in parts:
            if isinstance(part, torch.Tensor) and not part.isfinite().all():
                raise Found(name)

    handles = [
        m.register_forward_hook(lambda m, a, o, name=name: stop(name, o)) for name, m in model.named_modules()
    ]
    try:
        model(inputs)
    except Found as found:
        return found.args[0]
    finally:
        for handle in handles:
            handle.remove()
    return None
""",
    ),
    Right(
        "wraps forward; pytree",
        code="""
import contextlib

import torch
from torch.utils import _pytree

def broken(tree):
    return any(not t.isfinite().all() for t in _pytree.tree_leaves(tree) if torch.is_tensor(t))

def first_nan(model, inputs):
    if broken(inputs):
        raise ValueError("NaN in the data")
    found = []

    def watch(name, inner):
        def forward(*args, **kwargs):
            clean = not broken((args, kwargs))
            result = inner(*args, **kwargs)
            if clean and broken(result):
                found.append(name)
            return result
        return forward

    with contextlib.ExitStack() as stack:
        for name, module in model.named_modules():
            module.forward = watch(name, module.forward)
            stack.callback(module.__dict__.pop, "forward")
        model(inputs)
    return next(iter(found), None)
""",
    ),
    Right(
        "arguments are judged in a pre-hook; NaN and inf by a comparison",
        edits=[
            (FINITE, "(value.float().abs() < torch.inf).all()"),
            (
                "    def look(name, _module, args, kwargs, output):\n" + LOOK,
                "    clean = []\n\n    def before(_module, args, kwargs):\n"
                "        clean.append(_finite([args, kwargs]))\n\n"
                "    def look(name, _module, _args, output):\n"
                "        if clean.pop() and not _finite(output):\n",
            ),
            (
                HOOK,
                "            hooks.append(module.register_forward_pre_hook(before, with_kwargs=True))\n"
                + HOOK.replace(", with_kwargs=True", ""),
            ),
        ],
    ),
]
