"""Answers to first_bad_gradient that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FINITE = "torch.isfinite(x).all()"
ALIAS = (
    "            x = x.view_as(x)  # its hook sees this call's share: x itself may be used elsewhere, too\n"
)
MAP = "        return tree_map_only(Tensor, alias, (args, kwargs))\n"
REMOVE = "    finally:\n        for hook in hooks:\n            hook.remove()\n"
GRADS = "    grads = torch.autograd.grad(loss, params, allow_unused=True)  # leaves .grad alone, unlike backward()\n"
CHOOSE = "        if all(finite):\n            return name\n"
FALLBACK = """    for name, module in reversed(list(model.named_modules())):  # parts come after the module around them
        if all(came_in.get(name, [False])) and bad.intersection(module.parameters()):
            return name
"""


def full(blame, each="model.named_modules()", tidy="finally:", choose="bad[0] if bad else None"):
    """An answer by full backward hooks."""
    return f"""
import torch

def broken(grads):
    return any(g is not None and not torch.isfinite(g).all() for g in grads)

def first_bad_gradient(model, compute_loss):
    bad, handles = [], []
    for name, module in {each}:
        def hook(module, grad_input, grad_output, name=name):
            if {blame}:
                bad.append(name)
        handles.append(module.register_full_backward_hook(hook))
    try:
        loss = compute_loss()
        model.zero_grad()
        loss.backward()
    {tidy}
        for handle in handles:
            handle.remove()
    return {choose}
"""


MADE = "broken(grad_input) and not broken(grad_output)"

SPECIMENS = [
    Wrong(
        "full backward hooks, the first with a bad gradient for its input",
        code=full("broken(grad_input)"),
        check="test_handed_on",
        says="hands it on",
        rung="job",
    ),
    Wrong(
        "full backward hooks, the first that was given a bad gradient",
        code=full("broken(grad_output)"),
        check="test_worked_example",
        says="only hands it on",
        rung="job",
    ),
    Wrong(
        "full backward hooks, the last to spoil",
        code=full(MADE, choose="bad[-1] if bad else None"),
        check="test_first_of_two",
        says="the later layers first",
        rung="job",
    ),
    Wrong(
        "full backward hooks, the model's own parts only",
        code=full(MADE, each="model.named_children()"),
        check="test_anywhere",
        says="around the culprit",
        rung="job",
    ),
    Wrong(
        "full backward hooks, modules without parts only",
        code=full(MADE, each="[(n, m) for n, m in model.named_modules() if not list(m.children())]"),
        check="test_handed_on",
        rung="job",
    ),
    Wrong(
        "full backward hooks that stay after an error",
        code=full(MADE, tidy="except ZeroDivisionError:\n        pass\n    else:"),
        check="test_no_hook_is_left",
        says="with an error",
        rung="job",
    ),
    Wrong(
        "looks at the parameters' gradients after backward",
        code="""
import torch

def first_bad_gradient(model, compute_loss):
    compute_loss().backward()
    for name, p in reversed(list(model.named_parameters())):
        if p.grad is not None and not torch.isfinite(p.grad).all():
            return name.rpartition(".")[0]
    return None
""",
        check="test_worked_example",
        says="only hands it on",
        rung="job",
    ),
    Wrong(
        "hooks of the forward pass, as for first_nan",
        code="""
import torch

def first_bad_gradient(model, compute_loss):
    found = []
    hooks = [
        m.register_forward_hook(lambda m, a, out, n=n: found.append(n) if not out.isfinite().all() else None)
        for n, m in model.named_modules()
    ]
    try:
        compute_loss().backward()
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else None
""",
        check="test_worked_example",
        says="a forward hook sees no gradients",
        rung="job",
    ),
    Wrong(
        "NaN alone", edits=[(FINITE, "torch.isnan(x).logical_not().all()")], check="test_anywhere", rung="job"
    ),
    Wrong(
        "a tensor's own hook: blames the wrong branch",
        edits=[(ALIAS, "")],
        check="test_branches",
        says="own share",
    ),
    Wrong(
        "clones for arguments: what works in place changes a copy",
        edits=[(ALIAS, ALIAS.replace("x.view_as(x)", "x.clone().detach().requires_grad_()"))],
        check="test_anywhere",
        rung="job",
    ),
    Wrong(
        "positional arguments alone",
        edits=[(MAP, "        return tree_map_only(Tensor, alias, args), kwargs\n")],
        check="test_nested_data",
        says="around the culprit",
    ),
    Wrong(
        "full backward hooks where nothing works in place, and .grad put back",
        code=full(MADE)
        .replace(
            "        loss = compute_loss()\n        model.zero_grad()\n",
            "        old = [p.grad for p in model.parameters()]\n        loss = compute_loss()\n",
        )
        .replace(
            "        for handle",
            "        for p, grad in zip(model.parameters(), old):\n            p.grad = grad\n        for handle",
        ),
        check="test_in_place",
    ),
    Wrong(
        "does not think of parameters",
        edits=[(FALLBACK, "")],
        check="test_parameters",
        says="for a parameter is",
    ),
    Wrong(
        "backward, which adds to .grad",
        edits=[(GRADS, "    loss.backward()\n    grads = [p.grad for p in params]\n")],
        check="test_grad_is_left_alone",
        says=".grad",
    ),
    Works("full backward hooks, as PyTorch's manual has them", code=full(MADE)),
    Works(
        "full backward hooks, one function that is given the name",
        code="""
from functools import partial

import torch

def first_bad_gradient(model, compute_loss):
    culprits, hooks = [], []

    def is_bad(grads):
        return any(torch.isnan(g).any() or torch.isinf(g).any() for g in grads if g is not None)

    def check(name, module, grad_in, grad_out):
        if is_bad(grad_in) and not is_bad(grad_out):
            culprits.append(name)

    for name, module in model.named_modules():
        hooks.append(module.register_full_backward_hook(partial(check, name)))
    try:
        compute_loss().backward()
        return next(iter(culprits), None)
    finally:
        [h.remove() for h in hooks]
        model.zero_grad(set_to_none=True)
""",
    ),
    Right(
        "other views, backward with the gradients put aside",
        edits=[
            ("x.view_as(x)", "x[...]"),
            (
                GRADS,
                """    old = [p.grad for p in params]
    for p in params:
        p.grad = None
    try:
        loss.backward()
        grads = [p.grad for p in params]
    finally:
        for p, grad in zip(params, old):
            p.grad = grad
""",
            ),
        ],
    ),
    Right(
        "wraps forward, and keeps one log of all calls",
        code="""
import contextlib

import torch
from torch.utils import _pytree

def broken(x):
    return not torch.isfinite(x).all()

def first_bad_gradient(model, compute_loss):
    log, calls = [], []

    def watch(name, module, inner):
        def forward(*args, **kwargs):
            call = {"name": name, "module": module, "in": []}
            calls.append(call)

            def own(x):
                if not isinstance(x, torch.Tensor) or not x.requires_grad:
                    return x
                x = x.view(x.shape)
                x.register_hook(lambda g: log.append(call) if broken(g) else None)
                return x

            args, kwargs = _pytree.tree_map(own, (args, kwargs))
            result = inner(*args, **kwargs)
            for x in _pytree.tree_leaves(result):
                if isinstance(x, torch.Tensor) and x.requires_grad:
                    x.register_hook(lambda g: call["in"].append(broken(g)))
            return result
        return forward

    with contextlib.ExitStack() as stack:
        for name, module in model.named_modules():
            module.forward = watch(name, module, module.forward)
            stack.callback(module.__dict__.pop, "forward")
        loss = compute_loss()
    params = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    bad = {id(p) for p, g in zip(params, grads) if g is not None and broken(g)}
    made = [call["name"] for call in log if not any(call["in"])]
    if made:
        return made[0]
    for call in reversed(calls):
        if call["in"] and not any(call["in"]) and bad & {id(p) for p in call["module"].parameters()}:
            return call["name"]
    return None
""",
    ),
]
