"""Answers to find_divergence that people write."""

from grader.authoring.specimen import Right, Wrong

BOTH = "    right, yours = _record(reference, inputs), _record(candidate, inputs)\n"
RANGE = "range(max(len(right), len(yours)))"
NAME = "        name = (right if index < len(right) else yours)[index][0]\n"
CALL = "        call, calls[name] = calls[name], calls[name] + 1\n"
PART = "        if index >= len(right) or index >= len(yours) or yours[index][0] != name:\n            return Divergence(name, call, math.inf)\n"
NO_GRAD = "@torch.no_grad()\n"
MODULES = "        for name, module in model.named_modules():\n"
REMOVE = "            stack.callback(hook.remove)\n"
MODE = '            stack.callback(setattr, module, "training", module.training)\n'
EVAL = "        model.eval()\n"
RUN = "        model(*_copy(inputs))\n"
CLONE = "        return {place: data.detach().clone()}  # a later layer may write over the original\n"
OTHER = "    if a.keys() != b.keys() or any(a[place].shape != b[place].shape for place in a):\n"
DOUBLE = "        x, y = _wide(a[place]), _wide(b[place])\n"
SAME = "        same = (x == y) | (x.isnan() & y.isnan())  # inf - inf would be NaN\n"
ERROR = "        error = torch.where(same, 0.0, (x - y).abs()).nan_to_num(nan=math.inf, posinf=math.inf)\n"
ALLOWED = "        allowed = torch.where(x.isfinite(), atol + rtol * x.abs(), 0.0)\n"
AGREE = "        agree = agree and bool((error <= allowed).all())\n"
LARGEST = "        largest = max(largest, float(error.max()) if error.numel() else 0.0)\n"

SPECIMENS = [
    Wrong(
        "takes layers that do not fit together for the end of the run",
        edits=[
            (
                RUN,
                "        try:\n            model(*_copy(inputs))\n"
                "        except RuntimeError:\n            pass\n",
            )
        ],
        check="test_one_model_twice",
        says="fit together",
    ),
    Wrong(
        "twice the default tolerance",
        edits=[("*inputs: object, rtol: float = 1e-4", "*inputs: object, rtol: float = 2e-4")],
        check="test_tolerances",
        says="default tolerances",
    ),
    Wrong(
        "a model does not differ from itself, so it is not run",
        edits=[
            (
                "    right, yours = _record",
                "    if reference is candidate:\n        return None\n    right, yours = _record",
            )
        ],
        check="test_one_model_twice",
        says="KeyError",
    ),
    Wrong(
        "copies of outputs that are tensors, but not of those within tuples",
        edits=[(CLONE, "        return {place: data if place else data.detach().clone()}\n")],
        check="test_nested_outputs_that_are_written_over",
    ),
    Wrong(
        "the largest error of the tensors that differ",
        edits=[
            (
                AGREE,
                "        if bool((error <= allowed).all()):\n            continue\n        agree = False\n",
            )
        ],
        check="test_largest_error_of_a_call",
    ),
    Wrong(
        "a difference of just what is allowed is too much",
        edits=[(AGREE, AGREE.replace("(error <= allowed)", "((error < allowed) | same)"))],
        check="test_tolerances",
    ),
    Wrong(
        "the last call that differs",
        edits=[
            (
                "        if not agree:\n            return Divergence(name, call, error)\n    return None\n",
                "        if not agree:\n            found = Divergence(name, call, error)\n    return found\n",
            ),
            (BOTH, BOTH + "    found = None\n"),
        ],
        check="test_planted_faults",
    ),
    Wrong(
        "in the order of the definition",
        edits=[
            (
                BOTH,
                BOTH
                + "    order = [n for n, _ in reference.named_modules()][1:] + ['']\n    if [n for n, _ in right] == [n for n, _ in yours]:\n        right, yours = (sorted(r, key=lambda e: order.index(e[0])) for r in (right, yours))\n",
            )
        ],
        check="test_planted_faults",
    ),
    Wrong(
        "leaves only: not the blocks",
        edits=[
            (
                MODULES,
                MODULES
                + "            if next(module.children(), None) is not None:\n                continue\n",
            )
        ],
        check="test_planted_faults",
    ),
    Wrong(
        "direct children only",
        edits=[(MODULES, "        for name, module in [*model.named_children(), ('', model)]:\n")],
        check="test_planted_faults",
    ),
    Wrong(
        "hooks on both before either runs",
        edits=[
            (
                BOTH,
                """    right, yours = [], []
    handles = []
    for record, model in ((right, reference), (yours, candidate)):
        for name, module in model.named_modules():
            handles.append(module.register_forward_hook(lambda m, a, out, name=name, record=record: record.append((name, _tensors(out)))))
    _record(reference, inputs)
    _record(candidate, inputs)
    for handle in handles:
        handle.remove()
""",
            )
        ],
        check="test_healthy_pairs",
    ),
    Wrong(
        "a dict by name: the last call counts",
        edits=[
            (BOTH, BOTH + "    right, yours = list(dict(right).items()), list(dict(yours).items())\n"),
        ],
        check="test_modules_that_are_called_twice",
    ),
    Wrong(
        "call is the number of the call among all",
        edits=[(CALL, "        call = index\n")],
        check="test_planted_faults",
    ),
    Wrong(
        "calls are counted from 1",
        edits=[(CALL, "        calls[name] += 1\n        call = calls[name]\n")],
        check="test_planted_faults",
    ),
    Wrong(
        "call is always 0",
        edits=[(CALL, "        call = 0\n")],
        check="test_modules_that_are_called_twice",
    ),
    Wrong(
        "the last of two names",
        edits=[
            (
                MODULES,
                "        names = {id(m): n for n, m in model.named_modules(remove_duplicate=False)}\n        for module in model.modules():\n            name = names[id(module)]\n",
            )
        ],
        check="test_modules_that_are_called_twice",
        says="layer",
    ),
    Wrong(
        "stops where the shorter run ends",
        edits=[
            (RANGE, "range(min(len(right), len(yours)))"),
        ],
        check="test_other_calls",
    ),
    Wrong(
        "compares what is at the same place, whatever its name",
        edits=[(" or yours[index][0] != name:", ":")],
        check="test_other_calls",
    ),
    Wrong(
        "refuses models with other calls",
        edits=[
            (PART, PART.replace("return Divergence(name, call, math.inf)", "raise ValueError('other calls')"))
        ],
        check="test_other_calls",
    ),
    Wrong(
        "names the candidate's module where the runs part",
        edits=[
            (
                PART,
                PART.replace(
                    "Divergence(name,", "Divergence((yours if index < len(yours) else right)[index][0],"
                ),
            )
        ],
        check="test_other_calls",
    ),
    Wrong(
        "an error of NaN where the runs part",
        edits=[(PART, PART.replace("math.inf", "math.nan"))],
        check="test_other_calls",
        says="error",
    ),
    Wrong(
        "keeps the outputs, which a layer in place writes over",
        edits=[(CLONE, "        return {place: data.detach()}\n")],
        check="test_layers_that_work_in_place",
    ),
    Wrong(
        "rounds the candidate's outputs to the reference's dtype",
        edits=[(DOUBLE, DOUBLE.replace("b[place]", "b[place].to(a[place].dtype)"))],
        check="test_dtypes",
        says="wider dtype",
    ),
    Wrong(
        "rounds the reference's outputs to the candidate's dtype",
        edits=[(DOUBLE, DOUBLE.replace("a[place]", "a[place].to(b[place].dtype)"))],
        check="test_dtypes",
        says="narrower dtype",
    ),
    Wrong(
        "sorts the keys of dicts, which may be text and numbers",
        edits=[("parts = data.items() if", "parts = sorted(data.items()) if")],
        check="test_nested_outputs",
    ),
    Wrong(
        "casts the outputs to float64, which copies nothing where they are float64 already",
        edits=[(CLONE, "        return {place: data.detach().to(torch.float64)}\n")],
        check="test_layers_that_work_in_place",
        says="float64",
    ),
    Wrong(
        "the same inputs for both",
        edits=[(RUN, "        model(*inputs)\n")],
        check="test_layers_that_work_in_place",
    ),
    Wrong(
        "copies tensors that are inputs themselves only",
        edits=[
            (RUN, "        model(*[x.clone() if isinstance(x, Tensor) else x for x in inputs])\n"),
        ],
        check="test_nested_inputs",
    ),
    Wrong(
        "one copy of the inputs for both",
        edits=[
            (BOTH, "    inputs = _copy(inputs)\n" + BOTH),
            (RUN, "        model(*inputs)\n"),
        ],
        check="test_layers_that_work_in_place",
    ),
    Wrong(
        "deep copies, which fail within a graph",
        edits=[
            (RUN, "        import copy\n\n        model(*copy.deepcopy(inputs))\n"),
        ],
        check="test_nested_inputs",
    ),
    Wrong(
        "named tuples become tuples",
        edits=[
            (
                'type(data)(*copies) if hasattr(data, "_fields") else type(data)(copies)',
                "copies if isinstance(data, list) else tuple(copies)",
            )
        ],
        check="test_nested_inputs",
    ),
    Wrong(
        "outputs are tensors",
        edits=[
            (
                "    if isinstance(data, (dict, list, tuple)):\n        parts = data.items() if isinstance(data, dict) else enumerate(data)\n",
                "",
            )
        ],
        check="test_nested_outputs",
    ),
    Wrong(
        "no dicts",
        edits=[
            (
                "    if isinstance(data, (dict, list, tuple)):\n        parts = data.items() if isinstance(data, dict) else enumerate(data)\n",
                "    if isinstance(data, (list, tuple)):\n        parts = enumerate(data)\n",
            )
        ],
        check="test_nested_outputs",
    ),
    Wrong(
        "values of dicts in their order",
        edits=[
            (
                "data.items() if isinstance(data, dict) else enumerate(data)",
                "enumerate(data.values() if isinstance(data, dict) else data)",
            )
        ],
        check="test_nested_outputs",
    ),
    Wrong(
        "the first tensor of an output",
        edits=[(LARGEST, LARGEST + "        break\n")],
        check="test_nested_outputs",
    ),
    Wrong(
        "the error of the first tensor that differs",
        edits=[(LARGEST, LARGEST + "        if not agree:\n            return False, float(error.max())\n")],
        check="test_nested_outputs",
    ),
    Wrong(
        "the tensors that both have",
        edits=[
            (OTHER, "    if any(a[place].shape != b[place].shape for place in a if place in b):\n"),
            ("    for place in a:\n        x, y", "    for place in a.keys() & b.keys():\n        x, y"),
        ],
        check="test_nested_outputs",
    ),
    Wrong(
        "the shapes broadcast",
        edits=[(OTHER, "    if a.keys() != b.keys():\n")],
        check="test_nested_outputs",
    ),
    Wrong(
        "relative to the candidate",
        edits=[(ALLOWED, "        allowed = torch.where(y.isfinite(), atol + rtol * y.abs(), 0.0)\n")],
        check="test_tolerances",
    ),
    Wrong(
        "relative to the largest number",
        edits=[
            (
                ALLOWED,
                "        allowed = atol + rtol * torch.where(x.isfinite(), x.abs(), 0.0).amax() if x.numel() else 0.0 * x\n",
            )
        ],
        check="test_tolerances",
    ),
    Wrong(
        "the larger of the two tolerances",
        edits=[("atol + rtol * x.abs()", "(rtol * x.abs()).clamp(min=atol)")],
        check="test_tolerances",
    ),
    Wrong(
        "ignores atol",
        edits=[("atol + rtol * x.abs()", "1e-6 + rtol * x.abs()")],
        check="test_tolerances",
    ),
    Wrong(
        "ignores rtol",
        edits=[("atol + rtol * x.abs()", "atol + 1e-4 * x.abs()")],
        check="test_tolerances",
    ),
    Wrong(
        "bits must be the same",
        edits=[(AGREE, "        agree = agree and bool(same.all())\n")],
        check="test_tolerances",
    ),
    Wrong(
        "means instead of numbers",
        edits=[
            (
                AGREE,
                "        agree = agree and bool(error.mean() <= allowed.mean() if error.numel() else True)\n",
            )
        ],
        check="test_tolerances",
    ),
    Wrong(
        "in the dtype of the outputs",
        edits=[
            (DOUBLE, "        x, y = a[place], b[place]\n"),
        ],
        check="test_dtypes",
    ),
    Wrong(
        "in float32",
        edits=[(DOUBLE, "        x, y = a[place].float(), b[place].float()\n")],
        check="test_dtypes",
    ),
    Wrong(
        "other dtypes are a difference",
        edits=[
            (
                OTHER,
                OTHER.replace(
                    "if a.keys()", "if any(a[p].dtype != b[p].dtype for p in a if p in b) or a.keys()"
                ),
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "floating outputs only",
        edits=[
            (
                "    if isinstance(data, Tensor):\n        return {",
                "    if isinstance(data, Tensor) and not data.is_floating_point():\n        return {}\n    if isinstance(data, Tensor):\n        return {",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "NaN differs from NaN",
        edits=[(SAME, "        same = x == y\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "no comparison with NaN is larger",
        edits=[
            (ERROR, "        error = torch.where(same, 0.0, (x - y).abs())\n"),
            (AGREE, "        agree = agree and not bool((error > allowed).any())\n"),
        ],
        check="test_nan_and_inf",
    ),
    Wrong(
        "inf allows any difference",
        edits=[(ALLOWED, "        allowed = atol + rtol * x.abs()\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "inf minus inf",
        edits=[(SAME, "        same = x.isnan() & y.isnan()\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "NaN as the error",
        edits=[
            (ERROR, "        error = torch.where(same, 0.0, (x - y).abs())\n"),
        ],
        check="test_nan_and_inf",
        says="error",
    ),
    Wrong(
        "fails on empty outputs",
        edits=[(LARGEST, "        largest = max(largest, float(error.max()))\n")],
        check="test_nan_and_inf",
    ),
    Wrong(
        "the error is the mean difference",
        edits=[(LARGEST, LARGEST.replace("error.max()", "error.mean()"))],
        check="test_planted_faults",
        says="error",
    ),
    Wrong(
        "the error has a sign",
        edits=[
            (ERROR, ERROR.replace("(x - y).abs()", "x - y")),
            (AGREE, AGREE.replace("error <=", "error.abs() <=")),
        ],
        check="test_planted_faults",
    ),
    Wrong(
        "the error is a tensor",
        edits=[
            (
                LARGEST,
                "        largest = torch.maximum(torch.as_tensor(largest, dtype=torch.float64), error.max()) if error.numel() else largest\n",
            )
        ],
        check="test_planted_faults",
        says="error",
    ),
    Wrong(
        "leaves the hooks",
        edits=[(REMOVE, "")],
        check="test_no_trace_is_left",
        says="hooks",
    ),
    Wrong(
        "leaves the hooks when a model raises",
        edits=[
            (REMOVE, "            hooks.append(hook)\n"),
            (MODULES, "        hooks = []\n" + MODULES),
            (RUN, RUN + "        for hook in hooks:\n            hook.remove()\n"),
        ],
        check="test_no_trace_is_left",
        says="hooks",
    ),
    Wrong(
        "clears all hooks",
        edits=[(REMOVE, "            stack.callback(module._forward_hooks.clear)\n")],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "leaves evaluation mode behind",
        edits=[(MODE, "")],
        check="test_no_trace_is_left",
        says="modes",
    ),
    Wrong(
        "restores the mode of the model for all modules",
        edits=[(MODE, ""), (EVAL, "        stack.callback(model.train, model.training)\n" + EVAL)],
        check="test_no_trace_is_left",
        says="modes",
    ),
    Wrong(
        "restores modes only if all goes well",
        edits=[
            (MODE, "            modes.append((module, module.training))\n"),
            (MODULES, "        modes = []\n" + MODULES),
            (RUN, RUN + "        for module, mode in modes:\n            module.training = mode\n"),
        ],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "runs in the mode of the caller",
        edits=[(EVAL, "")],
        check="test_healthy_pairs",
    ),
    Wrong(
        "records a graph",
        edits=[
            (NO_GRAD, ""),
            (
                RUN,
                "        inputs = _copy(inputs)\n        model(*[x.requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x for x in inputs])\n",
            ),
        ],
        check="test_no_trace_is_left",
        says="graph",
    ),
    Wrong(
        "runs each model twice",
        edits=[
            (
                RUN,
                "        with torch.no_grad():\n            model(*_copy(inputs))\n        record.clear()\n"
                + RUN,
            )
        ],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "calls forward itself, past the hooks",
        edits=[
            (RUN, "        out = model.forward(*_copy(inputs))\n        record.append(('', _tensors(out)))\n")
        ],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "seeds the random numbers",
        edits=[(EVAL, "        torch.manual_seed(0)\n" + EVAL)],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "swallows errors of the models",
        edits=[
            (
                RUN,
                "        try:\n            model(*_copy(inputs))\n        except Exception:\n            pass\n",
            )
        ],
        check="test_no_trace_is_left",
        says="error",
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
        "a global hook on all modules",
        edits=[
            (
                MODULES,
                "        names = {m: n for n, m in model.named_modules()}\n        hook = nn.modules.module.register_module_forward_hook(\n            lambda m, a, out: record.append((names[m], _tensors(out))) if m in names else None, always_call=False\n        )\n        stack.callback(hook.remove)\n        for module in model.modules():\n",
            ),
            (
                "            hook = module.register_forward_hook(\n                lambda module, args, out, name=name: record.append((name, _tensors(out)))\n            )\n",
                "",
            ),
            (REMOVE, ""),
        ],
    ),
    Right(
        "hooks for both names of a module",
        edits=[(MODULES, MODULES.replace("()", "(remove_duplicate=False)"))],
    ),
    Right(
        "runs copies of the models",
        edits=[
            ("import math\n", "import copy\nimport math\n"),
            (REMOVE + MODE, ""),
            (MODULES, "        model = copy.deepcopy(model)\n" + MODULES),
            ("            hook = module.reg", "            module.reg"),
        ],
    ),
    Wrong(
        "notes the candidate's modes when a shared reference is in eval mode already",
        edits=[
            (
                BOTH,
                "    modes = [(m, m.training) for m in reference.modules()]\n"
                "    reference.eval()\n"
                "    modes += [(m, m.training) for m in candidate.modules()]\n"
                "    try:\n"
                "        right, yours = _record(reference, inputs), _record(candidate, inputs)\n"
                "    finally:\n"
                "        for module, mode in modes:\n"
                "            module.training = mode\n",
            )
        ],
        check="test_one_model_twice",
        says="training flag",
    ),
    Wrong(
        "modes that are given back with train(), to a layer of two parents by the second one too",
        edits=[
            (MODE, ""),
            (RUN, RUN + "        for module, mode in modes:\n            module.train(mode)\n"),
            (EVAL, "        modes = [(m, m.training) for m in model.modules()]\n" + EVAL),
        ],
        check="test_one_model_twice",
        says="twice",
    ),
    Wrong(
        "loses the candidate's error where they have parted before it",
        edits=[
            (
                BOTH,
                "    right, yours = _record(reference, inputs), []\n"
                "    try:\n        _record(candidate, inputs, yours)\n"
                "    except Exception:\n"
                "        if all(_compare(a[1], b[1], rtol, atol)[0] for a, b in zip(right, yours)):\n            raise\n",
            ),
            (
                "def _record(model: nn.Module, inputs: tuple[object, ...])",
                "def _record(model: nn.Module, inputs: tuple[object, ...], record=None)",
            ),
            (
                "    record: list[tuple[str, dict[Place, Tensor]]] = []\n",
                "    record = [] if record is None else record\n",
            ),
        ],
        check="test_one_model_twice",
        says="after they have parted",
    ),
    Wrong(
        "takes a dict for one only where its type is dict itself",
        edits=[("data.items() if isinstance(data, dict)", "data.items() if type(data) is dict")],
        check="test_nested_outputs",
        says="OrderedDict",
    ),
    Wrong(
        "copies what it compares later, but for the tensors of a dict",
        edits=[
            (
                CLONE,
                "        shared = place and isinstance(place[0], str)\n"
                "        return {place: data.detach() if shared else data.detach().clone()}\n",
            )
        ],
        check="test_nested_outputs_that_are_written_over",
        says="a dict",
    ),
    Wrong(
        "copies named tuples and lists, and hands plain tuples on",
        edits=[
            (
                "    if isinstance(data, (list, tuple)):\n        copies",
                '    if isinstance(data, list) or hasattr(data, "_fields"):\n        copies',
            ),
            (RUN, "        model(*map(_copy, inputs))\n"),
        ],
        check="test_inputs_of_all_kinds",
    ),
    Wrong(
        "takes an empty tensor for one that differs by 1",
        edits=[(LARGEST, LARGEST.replace("else 0.0", "else 1.0"))],
        check="test_largest_error_of_a_call",
        says="empty",
    ),
    Wrong(
        "records no call whose outputs hold no tensor",
        edits=[
            (
                "record.append((name, _tensors(out)))",
                "record.append((name, _tensors(out))) if _tensors(out) else None",
            )
        ],
        check="test_calls_without_tensors",
        says="gives text",
    ),
    Wrong(
        "numbers a call by all calls so far, where the models call other modules",
        edits=[
            (
                PART,
                "        if index >= len(right) or index >= len(yours) or yours[index][0] != name:\n"
                "            return Divergence(name, index if name and call else call, math.inf)\n",
            )
        ],
        check="test_other_calls",
        says="calls of a, b, b",
    ),
    Wrong(
        "takes keys for the same that read the same",
        edits=[("_tensors(part, (*place, key))", "_tensors(part, (*place, str(key)))")],
        check="test_nested_outputs",
    ),
    Wrong(
        "overlooks empty tensors that stand alone",
        edits=[
            (
                OTHER,
                "    a, b = ({p: t for p, t in d.items() if t.numel() or p in o} for d, o in ((a, b), (b, a)))\n"
                + OTHER,
            )
        ],
        check="test_nested_outputs",
    ),
    Wrong(
        "switches gradients off, and on again unless a model raises",
        edits=[
            (NO_GRAD, ""),
            (RUN, "        torch.set_grad_enabled(False)\n" + RUN + "        torch.set_grad_enabled(True)\n"),
        ],
        check="test_no_trace_is_left",
        says="gradients switched off",
    ),
]
