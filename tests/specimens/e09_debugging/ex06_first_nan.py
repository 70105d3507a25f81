"""Answers to first_nan that people write."""

from grader.authoring.specimen import Right, Wrong

FINITE = (
    "    return all(bool(_entries(x).isfinite().all()) for x in tree_leaves(data) if isinstance(x, Tensor))\n"
)
CLEAN_IN = "        self.clean_arguments = _finite(arguments)\n"
JUDGE = "        if call.clean_arguments and not _finite(output):\n"
CAME_IN = "        call.clean_gradients = call.clean_gradients and _finite(grad)\n"
HANDED = "        if not _finite(grad):\n            self.backward.append(call)\n"
ALIAS = """            if id(x) not in aliases:
                aliases[id(x)] = x.view_as(x)
                aliases[id(x)].register_hook(partial(self.handed_on, call))
            return aliases[id(x)]
"""
POP = """        call = self.under_way.pop()
        while call.module is not module:  # has raised, and the model has caught it
            call = self.under_way.pop()
"""
GRADS = "            grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)\n"
HEALTHY = "    if _finite(loss) and not bad:\n        return None\n"
FORWARD = '    if watch.forward:\n        return Culprit("forward", watch.forward[0])\n'
OUTSIDE = '    if not _finite(loss):\n        return Culprit("outside", "")\n'
BACKWARD = """    for call in watch.backward:
        if call.clean_gradients:
            return Culprit("backward", call.name)
"""
REMOVE = "        for hook in hooks:\n            hook.remove()\n"
MODES = "            module.training = training\n"
BUFFERS = "            module._buffers.update(buffers)  # a module may have put another tensor in the place of one\n"
VALUES = """        for t, before in values:
            t.data.copy_(before)
"""
RESTORE = "        for module, training, buffers in modules:\n" + MODES + BUFFERS + VALUES
FINALLY = "    finally:\n" + REMOVE + RESTORE
NAMED = "        named = {name: p for name, p in model.named_parameters() if p.requires_grad}\n"
LOSS = "        loss = compute_loss()\n"
TRY = "    try:\n"

BACKWARD_PASS = """            old = {p: p.grad for p in model.parameters()}
            for p in old:
                p.grad = None
            try:
                loss.backward()
                grads = tuple(p.grad for p in named.values())
            finally:
                for p, grad in old.items():
                    p.grad = grad
"""

SPECIMENS = [
    Wrong(
        "looks into dicts and tuples only",
        edits=[
            (
                FINITE,
                "    def leaf(part):\n        return isinstance(part, list)\n\n"
                + FINITE.replace("tree_leaves(data)", "tree_leaves(data, is_leaf=leaf)"),
            )
        ],
        check="test_nested_data",
        says="list",
    ),
    Wrong(
        "raises an error like that of compute_loss",
        edits=[
            (
                LOSS,
                "        try:\n            loss = compute_loss()\n        except Exception as error:\n"
                "            raise type(error)(*error.args) from None\n",
            )
        ],
        check="test_what_the_run_changes",
        says="another object",
    ),
    Wrong(
        "acquits all parts of a call that was given NaN",
        edits=[
            (
                "        call = _Call(name, module, (args, kwargs))\n",
                "        call = _Call(name, module, (args, kwargs))\n"
                "        call.clean_arguments &= all(outer.clean_arguments for outer in self.under_way)\n",
            )
        ],
        check="test_between_modules",
        says="which the first part removes",
    ),
    Wrong(
        "restores nothing after Ctrl-C",
        edits=[
            (
                FINALLY,
                "    except Exception:\n"
                + REMOVE
                + RESTORE
                + "        raise\n    else:\n"
                + REMOVE
                + RESTORE,
            ),
        ],
        check="test_nothing_is_left",
        says="raises",
    ),
    Wrong(
        "takes the gradient of a call's first result for all that came in",
        edits=[("        for x in tree_leaves(output):\n", "        for x in tree_leaves(output)[:1]:\n")],
        check="test_nested_data",
        says="made between modules, for a dict",
    ),
    Wrong(
        "a gradient of an input is as bad as one of a parameter",
        edits=[(GRADS, BACKWARD_PASS), (HEALTHY, HEALTHY.replace("not bad", "not (bad or watch.backward)"))],
        check="test_healthy",
        says="the input alone",
    ),
    Wrong(
        "takes the names from its hooks, and the call from a stack that a caught error leaves askew",
        edits=[
            (POP, "        call = self.under_way.pop()\n"),
            ("self.forward.append(call.name)", "self.forward.append(self.names[module])"),
            (
                "        self.forward: list[str] = []\n",
                "        self.forward: list[str] = []\n        self.names: dict[Any, str] = {}\n",
            ),
            (
                "        self.under_way.append(call)\n",
                "        self.under_way.append(call)\n        self.names.setdefault(module, name)\n",
            ),
        ],
        check="test_caught_error",
        says="a loss that makes NaN gradients",
    ),
    Wrong(
        "judges the parameters' gradients by their norms, which overflow",
        edits=[
            (
                "strict=bool(grads)) if not _finite(grad)]",
                "strict=bool(grads)) if grad is not None and not grad.norm().isfinite()]",
            )
        ],
        check="test_healthy",
        says="beyond float32",
    ),
    Wrong(
        "looks at floating tensors, and not at complex ones",
        edits=[
            (
                FINITE,
                FINITE.replace("isinstance(x, Tensor)", "isinstance(x, Tensor) and x.is_floating_point()"),
            )
        ],
        check="test_other_dtypes",
        says="complex64",
    ),
    Wrong(
        "puts back the values of parameters that require a gradient",
        edits=[
            (
                "(*model.parameters(), *model.buffers())]",
                "(*filter(lambda p: p.requires_grad, model.parameters()), *model.buffers())]",
            )
        ],
        check="test_what_the_run_changes",
        says="frozen",
    ),
    Wrong(
        "judges the backward pass to the inputs where all parameters are frozen",
        edits=[
            (
                "    bad = [name for name, grad",
                "    if not named and loss.requires_grad:\n        loss.backward()\n"
                "    bad = [name for name, grad",
            ),
            (
                "    if _finite(loss) and not bad:\n",
                "    if _finite(loss) and not bad and (named or not watch.backward):\n",
            ),
        ],
        check="test_without_a_backward",
        says="inputs that require a gradient",
    ),
    Wrong(
        "NaN alone",
        edits=[(FINITE, FINITE.replace("_entries(x).isfinite().all()", "not x.isnan().any()"))],
        check="test_forward",
    ),
    Wrong(
        "inf alone",
        edits=[(FINITE, FINITE.replace("_entries(x).isfinite().all()", "not x.isinf().any()"))],
        check="test_forward",
    ),
    Wrong(
        "inf in one direction",
        edits=[
            (FINITE, FINITE.replace("_entries(x).isfinite().all()", "not (x.isnan() | x.isposinf()).any()"))
        ],
        check="test_forward",
    ),
    Wrong(
        "judges by the sum, which overflows",
        edits=[(FINITE, FINITE.replace("_entries(x).isfinite().all()", "x.sum().isfinite()"))],
        check="test_large_numbers",
    ),
    Wrong(
        "judges by the mean, which overflows",
        edits=[
            (
                FINITE,
                FINITE.replace(
                    "_entries(x).isfinite().all()",
                    "(x.double().sum() if x.dtype == torch.float64 else x.float().mean()).isfinite()",
                ),
            )
        ],
        check="test_large_numbers",
    ),
    Wrong(
        "the sum of float16 in float16",
        edits=[
            (
                JUDGE,
                "        if call.clean_arguments and not all(bool(x.sum().isfinite()) for x in tree_leaves(output) if isinstance(x, Tensor)):\n",
            )
        ],
        check="test_large_numbers",
    ),
    Wrong(
        "blames whatever emits NaN, also what got some",
        edits=[(CLEAN_IN, "        self.clean_arguments = True\n")],
        check="test_between_modules",
    ),
    Wrong(
        "the last to emit",
        edits=[(FORWARD, FORWARD.replace("[0]", "[-1]"))],
        check="test_first_of_two",
    ),
    Wrong(
        "looks at the arguments after the call",
        edits=[
            (JUDGE, "        call.clean_arguments = _finite(_args)\n" + JUDGE),
        ],
        check="test_between_modules",
    ),
    Wrong(
        "positional arguments alone, forward",
        edits=[("_Call(name, module, (args, kwargs))", "_Call(name, module, args)")],
        check="test_nested_data",
    ),
    Wrong(
        "positional arguments alone, backward",
        edits=[
            (
                "        return tree_map_only(Tensor, alias, (args, kwargs))\n",
                "        return tree_map_only(Tensor, alias, args), kwargs\n",
            )
        ],
        check="test_nested_data",
    ),
    Wrong(
        "results that are tensors alone",
        edits=[(JUDGE, JUDGE.replace("not _finite", "isinstance(output, Tensor) and not _finite"))],
        check="test_nested_data",
    ),
    Wrong(
        "gradients of results that are tensors alone",
        edits=[("for x in tree_leaves(output):", "for x in [output]:")],
        check="test_nested_data",
    ),
    Wrong(
        "arguments that are tensors alone",
        edits=[
            (
                "        return tree_map_only(Tensor, alias, (args, kwargs))\n",
                "        new = [alias(x) if isinstance(x, Tensor) else x for x in args]\n        return tuple(new), {k: alias(x) if isinstance(x, Tensor) else x for k, x in kwargs.items()}\n",
            )
        ],
        check="test_nested_data",
    ),
    Wrong(
        "forward alone",
        edits=[(BACKWARD, ""), (GRADS, "            pass\n"), ("strict=bool(grads)", "strict=False")],
        check="test_backward",
    ),
    Wrong(
        "any backward call that hands NaN on",
        edits=[(CAME_IN, "        pass\n")],
        check="test_parameter",
    ),
    Wrong(
        "a tensor's own hook: blames the wrong branch",
        edits=[
            (
                ALIAS,
                """            if id(x) not in aliases:
                aliases[id(x)] = x
                x.register_hook(partial(self.handed_on, call))
            return x
""",
            )
        ],
        check="test_backward",
    ),
    Wrong(
        "the last in the backward pass",
        edits=[(BACKWARD, BACKWARD.replace("watch.backward:", "watch.backward[::-1]:"))],
        check="test_backward",
    ),
    Wrong(
        "full backward hooks",
        edits=[
            (ALIAS, "            return x\n"),
            (
                "            hooks.append(module.register_forward_hook(watch.end))\n",
                """            hooks.append(module.register_forward_hook(watch.end))

            def full(module, grad_in, grad_out, name=name):
                call = _Call(name, module, ())
                call.clean_gradients = _finite(grad_out)
                watch.handed_on(call, grad_in)

            hooks.append(module.register_full_backward_hook(full))
""",
            ),
        ],
        check="test_in_place",
    ),
    Wrong(
        "one record for each module",
        edits=[
            (POP, "        call = self.by_module[module]\n"),
            (
                "        self.under_way.append(call)\n",
                "        call = self.by_module.setdefault(module, call)\n",
            ),
            ("        self.under_way: list[_Call] = []\n", "        self.by_module = {}\n"),
        ],
        check="test_shared_module",
    ),
    Wrong(
        "the last name of a shared module",
        edits=[
            (
                "in model.named_modules():",
                "in [(n, m) for m, n in {m: n for n, m in model.named_modules(remove_duplicate=False)}.items()]:",
            )
        ],
        check="test_shared_module",
    ),
    Wrong(
        "the class in place of the name",
        edits=[("partial(watch.begin, name)", "partial(watch.begin, type(module).__name__)")],
        check="test_forward",
    ),
    Wrong(
        "only modules without parts",
        edits=[
            (
                "            hooks.append(module.register_forward_pre_hook",
                "            if list(module.children()):\n                continue\n            hooks.append(module.register_forward_pre_hook",
            )
        ],
        check="test_between_modules",
    ),
    Wrong(
        "no all-clear: a mask of -inf is a culprit",
        edits=[(HEALTHY, "    if _finite(loss) and not bad and not watch.forward:\n        return None\n")],
        check="test_healthy",
    ),
    Wrong(
        "the loss alone decides",
        edits=[(HEALTHY, "    if _finite(loss):\n        return None\n")],
        check="test_backward",
    ),
    Wrong("the data are not thought of", edits=[(OUTSIDE, "")], check="test_outside"),
    Wrong(
        "None where no module is to blame",
        edits=[(OUTSIDE, OUTSIDE.replace('Culprit("outside", "")', "None"))],
        check="test_outside",
    ),
    Wrong(
        "None where no module hands it on",
        edits=[('    return Culprit("parameter", bad[0])\n', "    return None\n")],
        check="test_parameter",
    ),
    Wrong("the last parameter", edits=[("bad[0]", "bad[-1]")], check="test_parameter"),
    Wrong(
        "backward, and looks at .grad",
        edits=[
            (
                GRADS,
                "            loss.backward()\n            grads = tuple(p.grad for p in named.values())\n",
            )
        ],
        check="test_healthy",
    ),
    Wrong(
        "clears the gradients",
        edits=[
            (
                GRADS,
                "            model.zero_grad()\n            loss.backward()\n            grads = tuple(p.grad for p in named.values())\n            model.zero_grad()\n",
            )
        ],
        check="test_nothing_is_left",
        says="gradient",
    ),
    Wrong("leaves its hooks", edits=[(REMOVE, "")], check="test_nothing_is_left", says="hooks"),
    Wrong(
        "leaves the running statistics as they became",
        edits=[(RESTORE, "")],
        check="test_nothing_is_left",
        says="running",
    ),
    Wrong(
        "tidies up where all goes well",
        edits=[
            (
                FINALLY,
                "    except ZeroDivisionError:\n        raise\n"
                + FINALLY.removeprefix("    finally:\n")
                .replace("\n        ", "\n    ")
                .replace("        for hook", "    for hook"),
            )
        ],
        check="test_nothing_is_left",
        says="raises",
    ),
    Wrong(
        "leaves the modes that compute_loss sets",
        edits=[(MODES, "")],
        check="test_what_the_run_changes",
        says="modes",
    ),
    Wrong(
        "leaves buffers that are assigned anew",
        edits=[(BUFFERS, "")],
        check="test_what_the_run_changes",
        says="assigned anew",
    ),
    Wrong(
        "puts back what is in the state_dict",
        edits=[("(*model.parameters(), *model.buffers())", "model.state_dict(keep_vars=True).values()")],
        check="test_what_the_run_changes",
        says="persistent",
    ),
    Wrong(
        "puts back the buffers alone",
        edits=[("(*model.parameters(), *model.buffers())", "model.buffers()")],
        check="test_what_the_run_changes",
        says="max_norm",
    ),
    Wrong(
        "clones for arguments: what works in place changes a copy",
        edits=[("x.view_as(x)", "x.clone()")],
        check="test_in_place_without_result",
        says="the loss in the run",
    ),
    Wrong(
        "the largest number, which empty tensors do not have",
        edits=[(FINITE, FINITE.replace("_entries(x).isfinite().all()", "x.double().abs().max().isfinite()"))],
        check="test_other_arguments",
    ),
    Wrong(
        "the first in the order of the forward pass",
        edits=[
            (
                BACKWARD,
                BACKWARD.replace("watch.backward:", "sorted(watch.backward, key=lambda call: call.number):"),
            ),
            (CLEAN_IN, CLEAN_IN + "        self.number = next(_NUMBERS)\n"),
            ("class _Call:\n", "_NUMBERS = itertools.count()\n\n\nclass _Call:\n"),
            ("from functools import partial\n", "import itertools\nfrom functools import partial\n"),
        ],
        check="test_first_in_the_backward_pass",
    ),
    Wrong(
        "swallows the error",
        edits=[(FINALLY, "    except Exception:\n        return None\n" + FINALLY)],
        check="test_what_the_run_changes",
        says="error",
    ),
    Wrong(
        "in evaluation mode",
        edits=[(TRY, "    model.eval()\n" + TRY)],
        check="test_loss_is_the_same",
    ),
    Wrong(
        "anomaly mode, left on",
        edits=[(TRY, "    torch.autograd.set_detect_anomaly(True, check_nan=False)\n" + TRY)],
        check="test_nothing_is_left",
    ),
    Wrong(
        "runs it twice, once for each pass",
        edits=[(LOSS, LOSS + LOSS)],
        check="test_loss_is_the_same",
        says="runs",
    ),
    Wrong(
        "seeds, to be reproducible",
        edits=[(LOSS, "        torch.manual_seed(0)\n" + LOSS)],
        check="test_loss_is_the_same",
    ),
    Wrong(
        "mends what it finds",
        edits=[
            (
                JUDGE,
                JUDGE
                + "            return\n        if isinstance(output, Tensor) and output.requires_grad:\n            return output.detach().requires_grad_()\n        if False:\n",
            )
        ],
        check="test_backward",
    ),
    Wrong(
        "always takes the gradients",
        edits=[("        if named and loss.requires_grad:", "        if True:")],
        check="test_without_a_backward",
    ),
    Wrong(
        "looks at the forward pass only where the loss is not finite",
        edits=[(FORWARD, FORWARD.replace("if watch.forward:", "if watch.forward and not _finite(loss):"))],
        check="test_hidden_by_the_loss",
    ),
    Wrong(
        "looks at float32 alone",
        edits=[
            (
                FINITE,
                FINITE.replace("isinstance(x, Tensor)", "isinstance(x, Tensor) and x.dtype == torch.float32"),
            )
        ],
        check="test_other_dtypes",
    ),
    Wrong(
        "takes the call on top, also one that has raised",
        edits=[(POP, "        call = self.under_way.pop()\n")],
        check="test_caught_error",
    ),
    Right(
        "other views, backward with the gradients put aside",
        edits=[
            ("x.view_as(x)", "x[...]"),
            (
                GRADS,
                BACKWARD_PASS,
            ),
        ],
    ),
    Right(
        "wraps forward, and keeps one log of all events",
        code="""
import collections
import copy

import torch

Culprit = collections.namedtuple("Culprit", ["where", "name"])


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def swap(value, fn):
    if isinstance(value, torch.Tensor):
        return fn(value)
    if isinstance(value, dict):
        return type(value)((k, swap(v, fn)) for k, v in value.items())
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(swap(v, fn) for v in value)
    return value


def broken(value):
    return any(not torch.isfinite(t).all() for t in tensors(value))


def watched(module, name, log):
    inner = module.forward

    def forward(*args, **kwargs):
        bad_before, received = broken((args, kwargs)), []

        def own(t):
            if not t.requires_grad or not torch.is_grad_enabled():
                return t
            t = t.view(t.shape)
            t.register_hook(lambda g: log.append(("backward", name, received)) if broken(g) else None)
            return t

        result = inner(*swap(args, own), **swap(kwargs, own))
        if not bad_before and broken(result):
            log.append(("forward", name, []))
        for t in tensors(result):
            if t.requires_grad:
                t.register_hook(lambda g: received.append(1) if broken(g) else None)
        return result

    return forward


def first_nan(model, compute_loss):
    log, wrapped = [], []
    saved = [(m, m.training, copy.deepcopy(m._buffers), {n: p.data.clone() for n, p in m._parameters.items() if p is not None}) for m in model.modules()]
    try:
        for name, module in model.named_modules():
            module.__dict__["forward"] = watched(module, name, log)
            wrapped.append(module)
        loss = compute_loss()
    finally:
        for module in wrapped:
            del module.__dict__["forward"]
        for m, mode, buffers, parameters in saved:
            m.training = mode
            m._buffers.clear()
            m._buffers.update(buffers)
            for n, values in parameters.items():
                m._parameters[n].data.copy_(values)
    params = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = [None] * len(params)
    if loss.grad_fn is not None and params:
        grads = torch.autograd.grad(loss, [p for _, p in params], allow_unused=True)
    bad = [n for (n, _), g in zip(params, grads) if broken(g)]
    if not broken(loss) and not bad:
        return None
    for where, name, _ in log:
        if where == "forward":
            return Culprit(where, name)
    if broken(loss):
        return Culprit("outside", "")
    for where, name, received in log:
        if where == "backward" and not received:
            return Culprit(where, name)
    return Culprit("parameter", bad[0])
""",
    ),
    Wrong(
        "makes plain tuples of NamedTuples",
        edits=[
            (
                "class Culprit(",
                """def tree_map_only(kind, fn, x):
    if isinstance(x, kind):
        return fn(x)
    if isinstance(x, list | tuple):
        return (list if isinstance(x, list) else tuple)(tree_map_only(kind, fn, v) for v in x)
    if isinstance(x, dict):
        return {k: tree_map_only(kind, fn, v) for k, v in x.items()}
    return x


class Culprit(""",
            )
        ],
        check="test_nested_data",
        says="first",
    ),
    Wrong(
        "looks into plain tuples only",
        edits=[
            (
                "class Culprit(",
                """def tree_leaves(x):
    if type(x) in (list, tuple):
        return [leaf for v in x for leaf in tree_leaves(v)]
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in tree_leaves(v)]
    return [x]


class Culprit(""",
            )
        ],
        check="test_nested_data",
        says="NamedTuple",
    ),
    Wrong(
        "without a graph any emission counts",
        edits=[
            (HEALTHY, HEALTHY.replace("not bad:", "not bad and (loss.requires_grad or not watch.forward):"))
        ],
        check="test_without_a_backward",
        says="masked by -inf",
    ),
]
