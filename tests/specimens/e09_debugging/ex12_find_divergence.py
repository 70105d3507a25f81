"""Answers to find_divergence that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BOTH = "    right, yours = _record(reference, inputs), _record(candidate, inputs)\n"
WALK = "    for (name, a), (other, b) in zip(right, yours, strict=False):  # the model's own call is the last of each\n"
CALL = "        call, calls[name] = calls[name], calls[name] + 1\n"
NAMES = " if name == other else (False, math.inf)\n"
FOUND = "            return Divergence(name, call, error)\n"
NO_GRAD = "@torch.no_grad()\n"
MODULES = "        for name, module in model.named_modules():\n"
REMOVE = "            stack.callback(hook.remove)\n"
MODE = '            stack.callback(setattr, module, "training", module.training)\n'
EVAL = "        model.eval()\n"
RUN = "        model(*copy.deepcopy(inputs))\n"
CLONE = "        return {place: data.clone()}  # a later layer may write over the original\n"
OTHER = "    if a.keys() != b.keys() or any(a[place].shape != b[place].shape for place in a):\n"
WIDE = "        x, y = _wide(a[place]), _wide(b[place])\n"
AGREE = "        agree = agree and torch.allclose(y, x, rtol=rtol, atol=atol, equal_nan=True)\n"
ERROR = "        error = (x - y).abs().masked_fill(same, 0.0).nan_to_num(nan=math.inf, posinf=math.inf)\n"
LARGEST = "        largest = max(largest, float(error.max()) if error.numel() else 0.0)\n"

SIMPLE = """
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Divergence:
    layer: str
    call: int
    error: float


def record(model, inputs):
    outputs, handles = [], []
    for name, module in model.named_modules():
        def hook(module, args, output, name=name):
            outputs.append((name, sum(n == name for n, *_ in outputs), output%s))
        handles.append(module.register_forward_hook(hook))
    model.eval()
    with torch.no_grad():
        model(*inputs)
    for handle in handles:
        handle.remove()
    return outputs


def find_divergence(reference, candidate, *inputs, rtol=1e-4, atol=1e-6):
    for (name, call, a), (_, _, b) in zip(record(reference, inputs), record(candidate, inputs)):
        if not %s:
            return Divergence(name, call, (a - b).abs().max().item())
    return None
"""

SPECIMENS = [
    Wrong(
        "the last call that differs",
        edits=[
            (BOTH, BOTH + "    found = None\n"),
            (FOUND, "            found = Divergence(name, call, error)\n    return found\n"),
        ],
        rung="job",
        check="test_worked_example",
        says="the last call that differs",
    ),
    Wrong(
        "a dict by name, in the order of the definition",
        code="""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Divergence:
    layer: str
    call: int
    error: float


def outputs_of(model, inputs):
    found, handles = {}, []
    for name, module in model.named_modules():
        if name:
            handles.append(module.register_forward_hook(lambda m, a, o, name=name: found.__setitem__(name, o)))
    try:
        model.eval()
        with torch.no_grad():
            found[""] = model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


def find_divergence(reference, candidate, *inputs, rtol=1e-4, atol=1e-6):
    a, b = outputs_of(reference, inputs), outputs_of(candidate, inputs)
    for name in a:
        if not torch.allclose(b[name], a[name], rtol=rtol, atol=atol):
            return Divergence(name, 0, (a[name] - b[name]).abs().max().item())
""",
        rung="job",
        check="test_modules_that_are_called_again",
        says="a later call overwrites it",
    ),
    Wrong(
        "in the order of the definition",
        edits=[
            (
                BOTH,
                BOTH
                + "    for record in (right, yours):\n        names = [name for name, _ in reference.named_modules()][1:] + ['']\n        record.sort(key=lambda pair: names.index(pair[0]))\n",
            )
        ],
        rung="job",
        check="test_first_of_several_faults",
        says="a block comes before its layers",
    ),
    Wrong(
        "leaves only: not the blocks",
        edits=[
            (
                MODULES,
                MODULES + "            if any(True for _ in module.children()):\n                continue\n",
            )
        ],
        rung="job",
        check="test_fault_between_layers",
        says="blocks are left out",
    ),
    Wrong(
        "direct children only",
        edits=[(MODULES, MODULES.replace("model.named_modules()", '[*model.named_children(), ("", model)]'))],
        rung="job",
        check="test_planted_faults",
        says="direct children",
    ),
    Wrong(
        "call is the number of the call among all",
        edits=[
            (
                WALK,
                WALK.replace("for (", "for call, ((")
                .replace(") in zip", ")) in enumerate(zip")
                .replace("):", ")):"),
            ),
            (CALL, ""),
        ],
        rung="job",
        check="test_planted_faults",
        says="of this module alone",
    ),
    Wrong(
        "call is always 0",
        edits=[(CALL, "        call = 0\n")],
        rung="job",
        check="test_modules_that_are_called_again",
        says="always 0",
    ),
    Wrong(
        "runs in the mode of the caller",
        edits=[(EVAL, "")],
        rung="job",
        check="test_healthy_pairs",
        says="dropout draws other numbers",
    ),
    Wrong(
        "bits must be the same",
        edits=[(AGREE, "        agree = agree and torch.equal(x, y)\n")],
        rung="job",
        check="test_tolerances",
        says="ignored",
    ),
    Wrong(
        "ignores rtol",
        edits=[(AGREE, AGREE.replace("rtol=rtol", "rtol=0.0"))],
        rung="job",
        check="test_tolerances",
        says="rtol is ignored",
    ),
    Wrong(
        "relative to the largest number",
        edits=[
            (AGREE, "        agree = agree and bool(((x - y).abs() <= atol + rtol * x.abs().max()).all())\n")
        ],
        rung="job",
        check="test_tolerances",
        says="one large number",
    ),
    Wrong(
        "means instead of numbers",
        edits=[(WIDE, "        x, y = _wide(a[place]).mean(), _wide(b[place]).mean()\n")],
        rung="job",
        check="test_tolerances",
        says="means or sums",
    ),
    Wrong(
        "no comparison with NaN is larger",
        edits=[
            (
                AGREE,
                "        agree = agree and not bool(((x - y).abs() > atol + rtol * x.abs()).any())\n",
            )
        ],
        rung="job",
        check="test_nan_is_a_difference",
        says="no comparison with NaN",
    ),
    Wrong(
        "the error is the mean difference",
        edits=[(LARGEST, LARGEST.replace("error.max()", "error.mean()"))],
        rung="job",
        check="test_planted_faults",
        says="the mean of",
    ),
    Wrong(
        "the error has a sign",
        edits=[(LARGEST, LARGEST.replace("error.max()", "(x - y).max()"))],
        rung="job",
        check="test_planted_faults",
        says="abs()",
    ),
    Wrong(
        "leaves the hooks",
        edits=[(REMOVE, "")],
        rung="job",
        check="test_no_hook_is_left",
        says="handle",
    ),
    Wrong(
        "leaves the hooks when a model raises",
        edits=[
            (REMOVE, ""),
            (
                RUN,
                RUN + "        for module in model.modules():\n            module._forward_hooks.popitem()\n",
            ),
        ],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "clears all hooks",
        edits=[(REMOVE, "            stack.callback(module._forward_hooks.clear)\n")],
        check="test_no_trace_is_left",
        says="hooks of the reference",
    ),
    Wrong(
        "leaves evaluation mode behind",
        edits=[(MODE, "")],
        check="test_no_trace_is_left",
        says="modes",
    ),
    Wrong(
        "records a graph",
        edits=[(NO_GRAD, "")],
        check="test_each_runs_once",
        says="graph",
    ),
    Wrong(
        "keeps the outputs, which a layer in place writes over",
        edits=[(CLONE, "        return {place: data}\n")],
        check="test_in_place",
    ),
    Wrong(
        "the same inputs for both",
        edits=[(RUN, "        model(*inputs)\n")],
        check="test_inputs",
    ),
    Wrong(
        "relative to the candidate",
        edits=[(AGREE, AGREE.replace("(y, x,", "(x, y,"))],
        check="test_relative_to_the_reference",
        says="of the candidate",
    ),
    Wrong(
        "NaN differs from NaN",
        edits=[(AGREE, AGREE.replace(", equal_nan=True", ""))],
        check="test_nan_and_inf",
    ),
    Wrong(
        "NaN as the error",
        edits=[(ERROR, "        error = (x - y).abs().masked_fill(same, 0.0)\n")],
        check="test_nan_and_inf",
        says="error",
    ),
    Wrong(
        "in the dtype of the outputs",
        edits=[(WIDE, "        x, y = a[place].cpu(), b[place].cpu()\n")],
        check="test_dtypes",
    ),
    Wrong(
        "the first tensor of an output",
        edits=[("    for place in a:\n", "    for place in list(a)[:1]:\n")],
        check="test_nested_outputs",
    ),
    Wrong(
        "the shapes broadcast",
        edits=[(OTHER, "    if a.keys() != b.keys():\n")],
        check="test_nested_outputs",
        says="broadcasts",
    ),
    Wrong(
        "compares what is at the same place, whatever its name",
        edits=[(NAMES, "\n")],
        check="test_other_calls",
    ),
    Works(
        "torch.allclose on what hooks record",
        code=SIMPLE % ("", "torch.allclose(a, b, rtol=rtol, atol=atol)"),
    ),
    Works(
        "the largest difference, and detached copies",
        code=SIMPLE % (".detach().clone()", "((a - b).abs() <= atol + rtol * a.abs()).all()"),
    ),
    Right(
        "copies of the outputs with tree_flatten, isclose, inference mode, modes in a dict",
        code="""
import math
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_flatten_with_path, tree_map_only

@dataclass(frozen=True)
class Divergence:
    layer: str
    call: int
    error: float

def _run(model, inputs):
    inputs = tree_map_only(torch.Tensor, lambda x: x.detach().clone(), inputs)
    names = {id(m): n for n, m in reversed(list(model.named_modules()))}
    modes, seen, hooks = {m: m.training for m in model.modules()}, [], []

    def hook(module, args, out):
        leaves = {str(path): x.clone() for path, x in tree_flatten_with_path(out)[0] if isinstance(x, torch.Tensor)}
        name = names[id(module)]
        seen.append((name, sum(n == name for n, *_ in seen), leaves))

    try:
        for m in modes:
            hooks.append(m.register_forward_hook(hook))
        for m in modes:
            m.training = False
        with torch.inference_mode():
            model(*inputs)
    finally:
        for h in hooks:
            h.remove()
        for m, mode in modes.items():
            m.training = mode
    return seen

def _distance(a, b):
    a, b = a.to(torch.float64), b.to(torch.float64)
    keep = ~((a == b) | (a.isnan() & b.isnan()))
    worst = (a[keep] - b[keep]).abs()
    if worst.numel() == 0:
        return 0.0
    return math.inf if not bool(worst.isfinite().all()) else worst.max().item()

def find_divergence(reference, candidate, *inputs, rtol=1e-4, atol=1e-6):
    first, second = _run(reference, inputs), _run(candidate, inputs)
    while first or second:
        if not first or not second or first[0][0] != second[0][0]:
            name, call, _ = (first or second)[0]
            return Divergence(name, call, math.inf)
        (name, call, a), (_, _, b) = first.pop(0), second.pop(0)
        if sorted(a) != sorted(b) or any(a[k].shape != b[k].shape for k in a):
            return Divergence(name, call, math.inf)
        close = [
            torch.isclose(b[k].double(), a[k].double(), rtol=rtol, atol=atol, equal_nan=True).all() for k in a
        ]
        if not all(close):
            return Divergence(name, call, max(_distance(a[k], b[k]) for k in a))
    return None
""",
    ),
    Right(
        "runs copies of the models",
        edits=[
            (REMOVE + MODE, ""),
            (MODULES, "        model = copy.deepcopy(model)\n" + MODULES),
        ],
    ),
]
