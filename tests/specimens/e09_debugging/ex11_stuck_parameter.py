"""Answers to stuck_parameter that people write."""

from grader.authoring.specimen import Right, Works, Wrong

BEFORE = "    before = {name: p.detach().clone() for name, p in model.named_parameters()}\n"
HOOK = "optimizer.register_step_post_hook(note)"
HANDLE = f"    handle = {HOOK}  # a closure has run by then, and nothing is cleared yet\n"
TRY = "    try:\n        train_step()\n    finally:\n        handle.remove()\n"
HELD = '    held = {p for group in optimizer.param_groups for p in group["params"]}\n'
LOOP = "    for name, p in model.named_parameters():\n"
MOVED = "        if _same(p.detach(), before[name]):\n"
REASON = '            reason = seen.get(p, "no step") if p in held else "not in optimizer"\n'
FROZEN = '            stuck[name] = reason if p.requires_grad else "frozen"\n'
NONE = '    if p.grad is None:\n        return "no gradient"\n'
ANY = "(p.grad != 0).any()"
RATE = '    return "zero rate" if rate == 0 else "lost"\n'
SAME = "    return bool(((now == before) | (now.isnan() & before.isnan())).all())\n"

AFTERWARDS = """
import torch
from torch import nn


def stuck_parameters(model, optimizer, train_step):
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    train_step()
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    result = {}
    for name, p in model.named_parameters():
        if not torch.equal(p, before[name]):
            continue
        if not p.requires_grad:
            result[name] = "frozen"
        elif id(p) not in groups:
            result[name] = "not in optimizer"
        elif p.grad is None:
            result[name] = "no gradient"
        elif p.grad.%s == 0:
            result[name] = "zero gradient"
        elif groups[id(p)]["lr"] == 0:
            result[name] = "zero rate"
        else:
            result[name] = "lost"
    return result
"""

SPECIMENS = [
    Wrong(
        "snapshots that share memory",
        edits=[(BEFORE, BEFORE.replace(".clone()", ""))],
        rung="job",
        check="test_healthy_model",
        says="clone() is missing",
    ),
    Wrong(
        "compares with a tolerance",
        edits=[(SAME, "    return torch.allclose(now, before, equal_nan=True)\n")],
        rung="job",
        check="test_healthy_models",
        says="tolerance",
    ),
    Wrong(
        "stuck where any number is the same",
        edits=[(SAME, SAME.replace(".all())", ".any())"))],
        rung="job",
        check="test_some_numbers_move",
        says="one number that differs",
    ),
    Wrong(
        "compares sums",
        edits=[(SAME, "    return bool(now.sum() == before.sum())\n")],
        rung="job",
        check="test_some_numbers_move",
        says="the same sum",
    ),
    Wrong(
        "buffers too",
        edits=[
            (BEFORE, "    before = {name: t.detach().clone() for name, t in model.state_dict().items()}\n"),
            (LOOP, "    for name, p in model.state_dict(keep_vars=True).items():\n"),
        ],
        rung="job",
        check="test_healthy_models",
        says="buffer",
    ),
    Wrong(
        "asks a list of tensors whether it holds one",
        edits=[(HELD, '    held = [p for group in optimizer.param_groups for p in group["params"]]\n')],
        rung="job",
        check="test_each_fault",
    ),
    Wrong(
        "equal tensors are in the optimizer",
        edits=[
            (HELD, '    held = [p for group in optimizer.param_groups for p in group["params"]]\n'),
            (
                REASON,
                REASON.replace("p in held", "any(torch.equal(before[name], q) for q in kept)").replace(
                    '"no step"', '"lost"'
                ),
            ),
            (
                BEFORE,
                BEFORE
                + '    kept = [p.detach().clone() for g in optimizer.param_groups for p in g["params"]]\n',
            ),
        ],
        rung="job",
        check="test_head_put_in_later",
        says="by identity",
    ),
    Wrong(
        "the first group only",
        edits=[(HELD, '    held = set(optimizer.param_groups[0]["params"])\n')],
        rung="job",
        check="test_each_fault",
    ),
    Wrong(
        "the rate that the optimizer was made with",
        edits=[('_wrong(p, group["lr"])', '_wrong(p, optimizer.defaults["lr"])')],
        rung="job",
        check="test_each_fault",
        says="own group",
    ),
    Wrong(
        "no gradient is a zero gradient",
        edits=[(NONE, '    if p.grad is None:\n        return "zero gradient"\n')],
        rung="job",
        check="test_each_fault",
        says="None is not a gradient of zeros",
    ),
    Wrong(
        "not in the optimizer before frozen",
        edits=[
            (FROZEN, '            stuck[name] = reason if p.requires_grad or p not in held else "frozen"\n')
        ],
        rung="job",
        check="test_the_first_reason_counts",
        says="the first one counts",
    ),
    Wrong(
        "lists what is wrong with parameters that have moved",
        edits=[(MOVED, '        if _same(p.detach(), before[name]) or seen.get(p) == "zero gradient":\n')],
        rung="job",
        check="test_moves_without_gradient",
        says="only for parameters that are the same",
    ),
    Wrong(
        "runs train_step twice to be sure",
        edits=[(TRY, TRY.replace("train_step()\n", "train_step()\n        train_step()\n"))],
        rung="job",
        check="test_one_step",
    ),
    Wrong(
        "a hook before the step: a closure has not run yet",
        edits=[(HOOK, "optimizer.register_step_pre_hook(note)")],
        check="test_closures",
        says="the closure has not run",
    ),
    Wrong(
        "a global hook that sees other optimizers too",
        edits=[
            (
                "import torch\n",
                "import torch\nfrom torch.optim.optimizer import register_optimizer_step_post_hook\n",
            ),
            (HOOK, "register_optimizer_step_post_hook(lambda o, a, k: note(optimizer, a, k))"),
        ],
        check="test_no_step",
        says="another optimizer",
    ),
    Wrong(
        "looks at the rates when all is over",
        edits=[
            (RATE, '    return "lost"\n'),
            (
                HELD,
                HELD
                + '    for group in optimizer.param_groups:\n        for p in group["params"]:\n            if seen.get(p) == "lost" and group["lr"] == 0:\n                seen[p] = "zero rate"\n',
            ),
        ],
        check="test_warm_up",
        says="the scheduler has set",
    ),
    Wrong(
        "leaves the hook when train_step raises",
        edits=[(TRY, "    train_step()\n    handle.remove()\n")],
        check="test_no_trace_is_left",
        says="hooks",
    ),
    Wrong(
        "replaces optimizer.step for good",
        edits=[
            (
                HANDLE,
                """    step = optimizer.step

    def noting(*args, **kwargs):
        result = step(*args, **kwargs)
        note(optimizer, args, kwargs)
        return result

    optimizer.step = noting
""",
            ),
            (TRY, "    train_step()\n"),
        ],
        check="test_no_trace_is_left",
        says="attributes",
    ),
    Wrong(
        "swallows errors",
        edits=[(TRY, TRY.replace("    finally:\n", "    except Exception:\n        pass\n    finally:\n"))],
        check="test_no_trace_is_left",
        says="comes out",
    ),
    Wrong(
        "NaN has always moved",
        edits=[(SAME, "    return torch.equal(now, before)\n")],
        check="test_nan",
        says="not equal to itself",
    ),
    Wrong(
        "a gradient whose norm is 0",
        edits=[(ANY, "p.grad.norm()")],
        check="test_small_gradients",
        says="underflow",
    ),
    Wrong(
        "clears the gradients first",
        edits=[(TRY, "    optimizer.zero_grad()\n" + TRY)],
        check="test_the_step_is_an_ordinary_one",
    ),
    Works("looks when all is over, at norms", code=AFTERWARDS % "norm()"),
    Works("looks when all is over, at the largest number", code=AFTERWARDS % "abs().max().item()"),
    Right(
        "a global hook with a filter, ids, bits compared",
        code="""
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

def stuck_parameters(model, optimizer, train_step):
    named = dict(model.named_parameters())
    copies = {n: p.data.clone() for n, p in named.items()}
    steps, got, nonzero, rated = 0, set(), set(), set()

    def after(who, args, kwargs):
        nonlocal steps
        if who is not optimizer:
            return
        steps += 1
        for group in who.param_groups:
            for p in group["params"]:
                if group["lr"] != 0:
                    rated.add(id(p))
                if p.grad is not None:
                    got.add(id(p))
                    if p.grad.count_nonzero():
                        nonzero.add(id(p))

    hook = register_optimizer_step_post_hook(after)
    try:
        train_step()
    finally:
        hook.remove()
    mine = {id(p) for g in optimizer.param_groups for p in g["params"]}
    stuck = {}
    for n, p in named.items():
        old, new = copies[n], p.data
        if (~((old == new) | ((old != old) & (new != new)))).sum().item():
            continue
        tests = [
            (not p.requires_grad, "frozen"),
            (id(p) not in mine, "not in optimizer"),
            (steps == 0, "no step"),
            (id(p) not in got, "no gradient"),
            (id(p) not in nonzero, "zero gradient"),
            (id(p) not in rated, "zero rate"),
            (True, "lost"),
        ]
        stuck[n] = next(reason for true, reason in tests if true)
    return stuck
""",
    ),
    Right(
        "optimizer.step replaced for the time being",
        edits=[
            (
                HANDLE,
                """    vars_before = dict(vars(optimizer))
    step = optimizer.step

    def noting(*args, **kwargs):
        result = step(*args, **kwargs)
        note(optimizer, args, kwargs)
        return result

    optimizer.step = noting
""",
            ),
            (
                TRY,
                """    try:
        train_step()
    finally:
        if "step" in vars_before:
            optimizer.step = vars_before["step"]
        else:
            del optimizer.step
""",
            ),
        ],
    ),
]
