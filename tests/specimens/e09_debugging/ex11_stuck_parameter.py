"""Answers to stuck_parameter that people write."""

from grader.authoring.specimen import Right, Wrong

BEFORE = "    before = {name: p.detach().clone() for name, p in model.named_parameters()}\n"
SEEN = "                seen[p] = seen.get(p, wrong) & wrong\n"
HANDLE = "    handle = optimizer.register_step_post_hook(note)  # a closure has run by then, and nothing is cleared yet\n"
TRY = "    try:\n        train_step()\n    finally:\n        handle.remove()\n"
OWNED = '    owned = {p for group in optimizer.param_groups for p in group["params"]}\n'
RATE = '    wrong = {"zero rate"} if float(rate) == 0.0 else set()\n'
NONE = '        return wrong | {"no gradient", "zero gradient"}  # None in one step and 0 in another: zero\n'
VALUES = "    values = p.grad.coalesce().values() if p.grad.is_sparse else p.grad\n"
ANY = "bool((values != 0).any())"
FROZEN = '    if not p.requires_grad:\n        return "frozen"\n'
MISSING = '    if not owned:\n        return "not in optimizer"\n'
STEP = '    if wrong is None:\n        return "no step"\n'
ORDER = '("no gradient", "zero gradient", "zero rate")'
NAN = "    both_nan = now.isnan() & before.isnan()\n"
SAME = "    return now.numel() > 0 and bool(((now == before) | both_nan).all())\n"

AFTERWARDS = """
def stuck_parameters(model, optimizer, train_step):
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    train_step()
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    result = {}
    for name, p in model.named_parameters():
        if p.numel() == 0 or not torch.equal(p.nan_to_num(), before[name].nan_to_num()):
            continue
        if not p.requires_grad:
            result[name] = "frozen"
        elif id(p) not in groups:
            result[name] = "not in optimizer"
        elif p.grad is None:
            result[name] = "no gradient"
        elif not p.grad.to_dense().any():
            result[name] = "zero gradient"
        elif groups[id(p)]["lr"] == 0:
            result[name] = "zero rate"
        else:
            result[name] = "lost"
    return result
"""

SPECIMENS = [
    Wrong(
        "takes a number and its negative for the same",
        edits=[(SAME, SAME.replace("(now == before)", "(now.abs() == before.abs())"))],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "looks at autograd's count of writes",
        edits=[
            (BEFORE, BEFORE + "    counts = {p: p._version for p in model.parameters()}\n"),
            (
                "        if _same(p.detach(), before[name])\n",
                "        if _same(p.detach(), before[name]) or (p.numel() and counts[p] == p._version)\n",
            ),
        ],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "takes its hook away after errors, but not after Ctrl-C",
        edits=[
            (
                TRY,
                "    try:\n        train_step()\n    except Exception:\n        handle.remove()\n        raise\n    handle.remove()\n",
            )
        ],
        check="test_no_trace_is_left",
        says="hooks",
    ),
    Wrong(
        "compares real parts",
        edits=[(NAN, "    now, before = now.real, before.real\n" + NAN)],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "takes a tiny rate for zero",
        edits=[("float(rate) == 0.0", "float(rate) < 1e-8")],
        check="test_rates",
        says="1e-12",
    ),
    Wrong(
        "compares sums",
        edits=[(SAME, "    return now.numel() > 0 and bool(now.nansum() == before.nansum())\n")],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "compares in float32",
        edits=[(SAME, "    now, before = now.float(), before.float()\n" + SAME)],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "judges the rate of the last step",
        edits=[(SEEN, '                seen[p] = (seen.get(p, wrong) & wrong) | (wrong & {"zero rate"})\n')],
        check="test_several_steps",
    ),
    Wrong(
        "puts the method step back as an attribute",
        edits=[(TRY, "    inner = optimizer.step\n" + TRY + "        optimizer.step = inner\n")],
        check="test_no_trace_is_left",
    ),
    Wrong(
        "looks at gradients and rates when all is over",
        code="import torch\n" + AFTERWARDS,
        check="test_gradients_are_cleared_in_the_step",
    ),
    Wrong(
        "looks at the rates when all is over",
        edits=[
            (RATE, "    wrong = set()\n"),
            (
                OWNED,
                OWNED
                + '    for group in optimizer.param_groups:\n        for p in group["params"]:\n            if p in seen and float(group["lr"]) == 0.0:\n                seen[p] = seen[p] | {"zero rate"}\n',
            ),
        ],
        check="test_rates",
    ),
    Wrong(
        "a hook before the step: a closure has not run yet",
        edits=[("optimizer.register_step_post_hook(note)", "optimizer.register_step_pre_hook(note)")],
        check="test_closures",
    ),
    Wrong(
        "the last of several steps counts",
        edits=[(SEEN, "                seen[p] = wrong\n")],
        check="test_several_steps",
    ),
    Wrong(
        "the first of several steps counts",
        edits=[(SEEN, "                seen.setdefault(p, wrong)\n")],
        check="test_several_steps",
    ),
    Wrong(
        "what was wrong in any of several steps counts",
        edits=[(SEEN, "                seen[p] = seen.get(p, wrong) | wrong\n")],
        check="test_several_steps",
    ),
    Wrong(
        "leaves the hook when train_step raises",
        edits=[(TRY, "    train_step()\n    handle.remove()\n")],
        check="test_no_trace_is_left",
        says="hooks",
    ),
    Wrong(
        "never removes the hook",
        edits=[(TRY, "    train_step()\n")],
        check="test_no_trace_is_left",
        says="hooks",
    ),
    Wrong(
        "a global hook that sees other optimizers too",
        edits=[
            (
                "optimizer.register_step_post_hook(note)",
                "torch.optim.optimizer.register_optimizer_step_post_hook(lambda o, a, k: note(optimizer, a, k))",
            )
        ],
        check="test_no_step",
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
    ),
    Wrong(
        "swallows errors",
        edits=[(TRY, TRY.replace("    finally:\n", "    except Exception:\n        pass\n    finally:\n"))],
        check="test_no_trace_is_left",
        says="error",
    ),
    Wrong(
        "snapshots that share memory",
        edits=[(BEFORE, BEFORE.replace(".clone()", ""))],
        check="test_healthy_models",
    ),
    Wrong(
        "compares with a tolerance",
        edits=[(SAME, "    return now.numel() > 0 and torch.allclose(now, before, equal_nan=True)\n")],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "stuck where any number is the same",
        edits=[(SAME, SAME.replace(".all())", ".any())"))],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "compares sums",
        edits=[(SAME, "    return now.numel() > 0 and bool((now - before).sum().abs() < 1e-6)\n")],
        check="test_healthy_models",
    ),
    Wrong(
        "NaN has always moved",
        edits=[(SAME, "    return now.numel() > 0 and torch.equal(now, before)\n")],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "any NaN counts as not moved",
        edits=[(SAME, SAME.replace("both_nan)", "now.isnan())"))],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "empty parameters are stuck",
        edits=[(SAME, SAME.replace("now.numel() > 0 and ", ""))],
        check="test_ties_and_empty_parameters",
    ),
    Wrong(
        "a gradient whose norm is 0",
        edits=[(ANY, "float(values.norm()) != 0")],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "a gradient whose sum is 0",
        edits=[(ANY, "float(values.sum()) != 0")],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "a gradient that is nearly 0",
        edits=[(ANY, "float(values.abs().max() if values.numel() else 0) > 1e-8")],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "NaN gradients are zero",
        edits=[(ANY, "bool((values.abs() > 0).any())")],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "zero where any number is 0",
        edits=[(ANY, "bool((values != 0).all())")],
        check="test_small_gradients_and_nan",
    ),
    Wrong(
        "fails on sparse gradients",
        edits=[(VALUES, "    values = p.grad\n")],
        check="test_sparse_gradients",
    ),
    Wrong(
        "turns gradients into NumPy arrays",
        edits=[(ANY, "bool((values.float().numpy() != 0).any())")],
        check="test_on_a_device",
    ),
    Wrong(
        "the entries of a sparse gradient are taken one by one",
        edits=[(VALUES, VALUES.replace("coalesce().values", "_values"))],
        check="test_sparse_gradients",
        says="3.weight",
    ),
    Wrong(
        "what the optimizer holds before the step",
        edits=[(OWNED, ""), (BEFORE, BEFORE + OWNED)],
        check="test_layers_that_the_step_thaws",
    ),
    Wrong(
        "what is frozen before the step",
        edits=[
            (BEFORE, BEFORE + "    frozen = {p for p in model.parameters() if not p.requires_grad}\n"),
            ("_reason(p, p in owned", "'frozen' if p in frozen else _reason(p, p in owned"),
        ],
        check="test_layers_that_the_step_thaws",
    ),
    Wrong(
        "asks a list of tensors whether it holds one",
        edits=[
            (
                OWNED,
                '    owned = [p for group in optimizer.param_groups for p in group["params"]]\n',
            )
        ],
        check="test_each_fault",
    ),
    Wrong(
        "equal tensors are in the optimizer",
        edits=[
            (OWNED, '    owned = [p for group in optimizer.param_groups for p in group["params"]]\n'),
            ("p in owned,", "any(p.shape == q.shape and torch.equal(p, q) for q in owned),"),
        ],
        check="test_equal_is_not_the_same",
    ),
    Wrong(
        "the first group only",
        edits=[(OWNED, '    owned = set(optimizer.param_groups[0]["params"])\n')],
        check="test_each_fault",
    ),
    Wrong(
        "the rate that the optimizer was made with",
        edits=[('_wrong(p, group["lr"])', '_wrong(p, optimizer.defaults["lr"])')],
        check="test_rates",
    ),
    Wrong(
        "does not know rates of 0",
        edits=[(RATE, "    wrong = set()\n")],
        check="test_each_fault",
    ),
    Wrong(
        "tensors as rates are not 0",
        edits=[(RATE, '    wrong = {"zero rate"} if isinstance(rate, float) and rate == 0.0 else set()\n')],
        check="test_rates",
    ),
    Wrong(
        "forgets that a step may be missing",
        edits=[(STEP, '    if wrong is None:\n        return "no gradient" if p.grad is None else "lost"\n')],
        check="test_no_step",
    ),
    Wrong(
        "not in the optimizer before frozen",
        edits=[(FROZEN + MISSING, MISSING + FROZEN)],
        check="test_the_first_reason_counts",
    ),
    Wrong(
        "the rate before the gradient",
        edits=[(ORDER, '("zero rate", "no gradient", "zero gradient")')],
        check="test_the_first_reason_counts",
    ),
    Wrong(
        "no gradient is a zero gradient",
        edits=[(NONE, '        return wrong | {"zero gradient"}\n')],
        check="test_each_fault",
    ),
    Wrong(
        "lists what is wrong with parameters that have moved",
        edits=[
            (
                "        if _same(p.detach(), before[name])\n",
                "        if p.numel() and (_same(p.detach(), before[name]) or not p.requires_grad or p not in owned)\n",
            )
        ],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "what is not in the optimizer cannot have moved",
        edits=[
            (
                "        if _same(p.detach(), before[name])\n",
                "        if p.numel() and (p not in owned or _same(p.detach(), before[name]))\n",
            )
        ],
        check="test_what_moves_is_not_stuck",
    ),
    Wrong(
        "all names of tied weights",
        edits=[
            (
                "        for name, p in model.named_parameters()\n        if",
                "        for name, p in model.named_parameters(remove_duplicate=False)\n        if",
            ),
            (BEFORE, BEFORE.replace("named_parameters()", "named_parameters(remove_duplicate=False)")),
        ],
        check="test_ties_and_empty_parameters",
    ),
    Wrong(
        "buffers too",
        edits=[
            (BEFORE, "    before = {name: t.detach().clone() for name, t in model.state_dict().items()}\n"),
            (
                "        for name, p in model.named_parameters()\n        if",
                "        for name, p in model.state_dict(keep_vars=True).items()\n        if",
            ),
        ],
        check="test_healthy_models",
        says="mean",
    ),
    Wrong(
        "runs train_step twice to be sure",
        edits=[(TRY, TRY.replace("train_step()\n", "train_step()\n        train_step()\n"))],
        check="test_the_step_is_an_ordinary_one",
    ),
    Wrong(
        "clears the gradients first",
        edits=[(TRY, "    optimizer.zero_grad()\n" + TRY)],
        check="test_the_step_is_an_ordinary_one",
    ),
    Wrong(
        "thaws the frozen ones",
        edits=[
            (
                OWNED,
                OWNED
                + "    frozen = {p for p in model.parameters() if not p.requires_grad}\n    model.requires_grad_()\n",
            ),
            ("_reason(p, p in", "'frozen' if p in frozen else _reason(p, p in"),
        ],
        check="test_the_step_is_an_ordinary_one",
    ),
    Wrong(
        "trains in training mode",
        edits=[(TRY, "    model.train()\n" + TRY)],
        check="test_the_step_is_an_ordinary_one",
    ),
    Wrong(
        "tries the step and takes it back",
        edits=[
            (
                OWNED,
                OWNED
                + "    moved = {n for n, p in model.named_parameters() if not _same(p.detach(), before[n]) or not p.numel()}\n    with torch.no_grad():\n        for n, p in model.named_parameters():\n            p.copy_(before[n])\n",
            ),
            ("        if _same(p.detach(), before[name])\n", "        if name not in moved\n"),
        ],
        check="test_the_step_is_an_ordinary_one",
    ),
    Wrong(
        "fails in half precision: half of one step is enough",
        edits=[
            (
                SAME,
                "    return now.numel() > 0 and bool((((now - before).abs() <= before.abs() / 512) | both_nan).all())\n",
            )
        ],
        check="test_rounded_away",
    ),
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
                    if p.grad.to_dense().count_nonzero():
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
        if p.nelement() == 0 or (~((old == new) | ((old != old) & (new != new)))).sum().item():
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
    Wrong(
        "a reason for each step, and they must agree",
        code="""
import torch
def stuck_parameters(model, optimizer, train_step):
    named = dict(model.named_parameters())
    before = {n: p.detach().clone() for n, p in named.items()}
    steps = []
    def look(opt, args, kwargs):
        seen = {}
        for group in opt.param_groups:
            for p in group["params"]:
                g = p.grad
                if g is not None and g.is_sparse:
                    g = g.coalesce().values()
                seen[id(p)] = g is None, g is not None and not bool((g != 0).any()), float(group["lr"]) == 0
        steps.append(seen)
    handle = optimizer.register_step_post_hook(look)
    try:
        train_step()
    finally:
        handle.remove()
    held = {id(p) for g in optimizer.param_groups for p in g["params"]}
    result = {}
    for n, p in named.items():
        a, b = before[n], p.detach()
        if bool(((a != b) & ~((a != a) & (b != b))).any()) or p.numel() == 0:
            continue
        saw = [s[id(p)] for s in steps if id(p) in s]
        rs = {'no gradient' if s[0] else 'zero gradient' if s[1] else 'zero rate' if s[2] else 'lost' for s in saw}
        if not p.requires_grad: r = "frozen"
        elif id(p) not in held: r = "not in optimizer"
        elif not steps: r = "no step"
        elif len(rs) == 1: r = rs.pop()
        else: r = "lost"
        result[n] = r
    return result
""",
        check="test_several_steps",
    ),
    Wrong(
        "compares with a copy in float32",
        edits=[(BEFORE, BEFORE.replace("p.detach().clone()", "p.detach().float().clone()"))],
        check="test_rounded_away",
        says="float64",
    ),
    Wrong(
        "turns gradients on for the step",
        edits=[
            (
                TRY,
                TRY.replace(
                    "        train_step()", "        with torch.enable_grad():\n            train_step()"
                ),
            )
        ],
        check="test_the_step_is_an_ordinary_one",
        says="records gradients",
    ),
    Wrong(
        "knows the groups of before the step",
        edits=[
            (
                HANDLE,
                '    old = {p for group in optimizer.param_groups for p in group["params"]}\n' + HANDLE,
            ),
            (
                '                wrong = _wrong(p, group["lr"])\n',
                '                wrong = _wrong(p, group["lr"] if p in old else 0.0)\n',
            ),
        ],
        check="test_layers_that_the_step_thaws",
        says="zero rate",
    ),
    Wrong(
        "a gradient that is None in the last step is none",
        edits=[
            (
                SEEN,
                '                none = wrong & {"no gradient"}\n                seen[p] = seen.get(p, wrong) & wrong | none\n',
            ),
        ],
        check="test_several_steps",
        says="no gradient",
    ),
    Wrong(
        "takes NaN for 0",
        edits=[
            (
                NAN + SAME,
                "    return now.numel() > 0 and torch.equal(now.nan_to_num(), before.nan_to_num())\n",
            )
        ],
        check="test_what_moves_is_not_stuck",
        says="from NaN to 0",
    ),
    Wrong(
        "knows a step by the optimizer's state",
        edits=[
            (
                "    return {\n        name: _reason(p, p in owned, seen.get(p))\n",
                "    return {\n        name: _reason(p, p in owned, seen.get(p, set() if optimizer.state else None))\n",
            ),
        ],
        check="test_the_first_reason_counts",
        says="without a step",
    ),
    Wrong(
        "knows the rates of the groups of before the step alone",
        edits=[
            (
                HANDLE,
                '    old = {p for group in optimizer.param_groups for p in group["params"]}\n' + HANDLE,
            ),
            (
                '                wrong = _wrong(p, group["lr"])\n',
                '                wrong = _wrong(p, group["lr"] if p in old else 1.0)\n',
            ),
        ],
        check="test_layers_that_the_step_thaws",
        says="lost",
    ),
    Wrong(
        "reads a rate that is a tensor when train_step is done, after the scheduler has written to it",
        edits=[
            (
                HANDLE,
                "    rates: dict[Tensor, list] = {}\n" + HANDLE,
            ),
            (
                '                wrong = _wrong(p, group["lr"])\n',
                '                wrong = _wrong(p, 1.0)\n                rates.setdefault(p, []).append(group["lr"])\n',
            ),
            (
                OWNED,
                "    for p, used in rates.items():\n"
                "        if all(float(rate) == 0.0 for rate in used):\n"
                '            seen[p] = seen[p] | {"zero rate"}\n' + OWNED,
            ),
        ],
        check="test_rates",
        says="warm-up",
    ),
    Wrong(
        "knows only what the optimizer held at the step",
        edits=[("[*optimizer.param_groups, late]", "optimizer.param_groups")],
        check="test_layers_that_the_step_thaws",
        says="when the step is made",
    ),
    Wrong(
        "a complex number that is NaN differs from itself",
        edits=[(NAN, "    both_nan = now.isnan() & before.isnan() & (not now.is_complex())\n")],
        check="test_small_gradients_and_nan",
        says="complex",
    ),
    Wrong(
        "the real part of a complex gradient",
        edits=[(ANY, "bool((values.real != 0).any())")],
        check="test_small_gradients_and_nan",
        says="complex",
    ),
    Wrong(
        "a norm in float64, whose squares underflow",
        edits=[(ANY, "bool(values.norm(dtype=torch.promote_types(values.dtype, torch.float64)) != 0)")],
        check="test_rounded_away",
        says="float64",
    ),
]
