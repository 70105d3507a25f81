"""Answers to adamw that people write."""

from grader.authoring.specimen import Right, Wrong

CHECKS = """        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} must be zero or above, not {value}")
        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise ValueError(f"betas must be in [0, 1), not {betas}")
"""
BETAS = """        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise ValueError(f"betas must be in [0, 1), not {betas}")
"""
SUPER = "        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))\n"
NO_GRAD = "    @torch.no_grad()\n"
CLOSURE = """        if closure is not None:
            with torch.enable_grad():
                result = closure()
"""
GROUPS = "        for group in self.param_groups:\n"
PARAMS = """            for p in group["params"]:
                if p.grad is not None:
"""
MOVE = "                    self._move(p, p.grad, group)\n"
STATE = "        state = self.state[p]\n"
FIRST = """        if not state:  # its first gradient
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
"""
ZEROS = '            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)\n'
UNPACK = '        m, v, lr = state["exp_avg"], state["exp_avg_sq"], group["lr"]\n'
COUNT = '        state["step"] += 1\n'
DECAY = '        p.mul_(1 - lr * group["weight_decay"])\n'
M = "        m.lerp_(grad, 1 - beta1)\n"
V = "        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)\n"
ROOT = '        root = (v / (1 - beta2 ** state["step"])).sqrt_().add_(group["eps"])\n'
UPDATE = '        p.addcdiv_(m, root, value=-lr / (1 - beta1 ** state["step"]))\n'
TAIL = (
    STATE + FIRST + UNPACK + '        beta1, beta2 = group["betas"]\n' + COUNT + DECAY + M + V + ROOT + UPDATE
)


SPECIMENS = [
    Wrong(
        "looks at single numbers on the host",
        edits=[
            (
                MOVE,
                "                    grad = p.grad if p.dim() else p.new_tensor(p.grad.item())\n                    self._move(p, grad, group)\n",
            )
        ],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "eps and weight_decay in another order",
        edits=[
            (
                "        eps: float = 1e-8,\n        weight_decay: float = 1e-2,\n",
                "        weight_decay: float = 1e-2,\n        eps: float = 1e-8,\n",
            )
        ],
        check="test_scheduler",
    ),
    Wrong(
        "goes through the groups from before the closure",
        edits=[
            ("        result = None\n", "        result, groups = None, list(self.param_groups)\n"),
            (GROUPS, "        for group in groups:\n"),
        ],
        check="test_closure",
        says="closure adds a group",
    ),
    Wrong(
        "without a β₁ the gradient itself is the moment",
        edits=[(M, '        m = state["exp_avg"] = m.lerp_(grad, 1 - beta1) if beta1 else grad\n')],
        check="test_memory",
    ),
    Wrong(
        "leaves the moments alone where the rate is 0",
        edits=[(MOVE, '                    if group["lr"]:\n    ' + MOVE)],
        check="test_scheduler",
    ),
    Wrong(
        "runs the closure for each group",
        edits=[
            (CLOSURE, ""),
            (
                GROUPS,
                GROUPS
                + "            if closure is not None:\n                with torch.enable_grad():\n                    loss = closure()\n",
            ),
        ],
        check="test_closure",
        says="call",
    ),
    Wrong(
        "t in a tensor, which load_state_dict takes for a moment",
        edits=[
            (ZEROS, ZEROS + '            state["t"] = torch.tensor(0.0)\n'),
            (COUNT, '        state["t"] += 1\n        state["step"] = int(state["t"])\n'),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "leaves a frozen parameter alone that has a gradient",
        edits=[(MOVE, "                    if p.requires_grad:\n    " + MOVE)],
        check="test_missing_gradients",
    ),
    Wrong(
        "no bias correction",
        edits=[(' / (1 - beta1 ** state["step"])', ""), ('(v / (1 - beta2 ** state["step"]))', "v.clone()")],
        check="test_step_by_step",
        says="there is no bias correction",
    ),
    Wrong(
        "no correction of the first moment",
        edits=[(' / (1 - beta1 ** state["step"])', "")],
        check="test_step_by_step",
        says="m is not divided by 1 - β₁ᵗ",
    ),
    Wrong(
        "no correction of the second moment",
        edits=[('(v / (1 - beta2 ** state["step"]))', "v.clone()")],
        check="test_step_by_step",
        says="v is not divided by 1 - β₂ᵗ",
    ),
    Wrong(
        "t begins at 0, and is counted after the step",
        edits=[
            (COUNT, ""),
            (UPDATE, UPDATE + COUNT),
            ('(1 - beta2 ** state["step"])', '((1 - beta2 ** state["step"]) or 1.0)'),
            ('(1 - beta1 ** state["step"])', '((1 - beta1 ** state["step"]) or 1.0)'),
        ],
        check="test_step_by_step",
        says="there is no bias correction",
    ),
    Wrong(
        "the decay goes through the moments: Adam",
        edits=[(DECAY, '        grad = grad + group["weight_decay"] * p\n')],
        check="test_step_by_step",
        says="the decay goes through the moments",
    ),
    Wrong(
        "the decay without lr",
        edits=[(DECAY, '        p.mul_(1 - group["weight_decay"])\n')],
        check="test_step_by_step",
    ),
    Wrong(
        "the decay after the step",
        edits=[(DECAY, ""), (UPDATE, UPDATE + DECAY)],
        check="test_step_by_step",
        says="the decay comes after the step",
    ),
    Wrong("no decay", edits=[(DECAY, "")], check="test_step_by_step"),
    Wrong(
        "eps inside of the root",
        edits=[(ROOT, '        root = (v / (1 - beta2 ** state["step"])).add_(group["eps"]).sqrt_()\n')],
        check="test_step_by_step",
    ),
    Wrong(
        "eps before the correction",
        edits=[
            (ROOT, '        root = v.sqrt().add_(group["eps"]).div_((1 - beta2 ** state["step"]) ** 0.5)\n')
        ],
        check="test_step_by_step",
    ),
    Wrong("eps is fixed", edits=[('group["eps"]', "1e-8")], check="test_step_by_step"),
    Wrong(
        "betas are fixed",
        edits=[('beta1, beta2 = group["betas"]', "beta1, beta2 = 0.9, 0.999")],
        check="test_step_by_step",
    ),
    Wrong(
        "betas swapped",
        edits=[('beta1, beta2 = group["betas"]', 'beta2, beta1 = group["betas"]')],
        check="test_step_by_step",
        says="the betas are swapped",
    ),
    Wrong(
        "the absolute gradient as second moment",
        edits=[(V, "        v.lerp_(grad.abs(), 1 - beta2)\n")],
        check="test_step_by_step",
    ),
    Wrong(
        "AMSGrad: the largest second moment",
        edits=[(V, "        old = v.clone()\n" + V + "        v.copy_(torch.maximum(v, old))\n")],
        check="test_step_by_step",
    ),
    Wrong(
        "takes a weight decay of 0 for the default",
        edits=[(DECAY, '        p.mul_(1 - lr * (group["weight_decay"] or 0.01))\n')],
        check="test_step_by_step",
    ),
    Wrong(
        "moments in float32",
        edits=[
            (ZEROS, ZEROS.replace("zeros_like(p)", "zeros_like(p, dtype=torch.float32)")),
            (M, "        grad = grad.float()\n" + M),
            (UPDATE, '        p.copy_(p - lr * m / root / (1 - beta1 ** state["step"]))\n'),
        ],
        check="test_step_by_step",
    ),
    Wrong(
        "another default of the decay",
        edits=[("weight_decay: float = 1e-2", "weight_decay: float = 0.0")],
        check="test_step_by_step",
    ),
    Wrong(
        "moments of bfloat16 parameters in float32",
        edits=[
            (
                ZEROS,
                ZEROS.replace(
                    "zeros_like(p)", "zeros_like(p, dtype=torch.promote_types(p.dtype, torch.float32))"
                ),
            ),
            (M, "        grad = grad.to(m.dtype)\n" + M),
            (UPDATE, '        p.copy_(p - lr * m / root / (1 - beta1 ** state["step"]))\n'),
        ],
        check="test_dtypes",
        says="dtype of a moment",
    ),
    Wrong(
        "the options of the first group for all",
        edits=[("self._move(p, p.grad, group)", "self._move(p, p.grad, self.param_groups[0])")],
        check="test_groups",
    ),
    Wrong(
        "the options that were given",
        edits=[
            (
                SUPER,
                SUPER
                + "        self.options = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)\n",
            ),
            ("self._move(p, p.grad, group)", "self._move(p, p.grad, self.options)"),
        ],
        check="test_groups",
    ),
    Wrong(
        "the options that groups began with",
        edits=[
            (SUPER, SUPER + "        self.options = [dict(group) for group in self.param_groups]\n"),
            (
                "self._move(p, p.grad, group)",
                "self._move(p, p.grad, next((o for o in self.options if any(q is p for q in o['params'])), group))",
            ),
        ],
        check="test_scheduler",
    ),
    Wrong(
        "a schedule of the betas is not seen",
        edits=[
            (FIRST, FIRST + '            state["betas"] = tuple(group["betas"])\n'),
            ('beta1, beta2 = group["betas"]', 'beta1, beta2 = state["betas"]'),
        ],
        check="test_groups",
    ),
    Wrong(
        "only the first group moves",
        edits=[(GROUPS, "        for group in self.param_groups[:1]:\n")],
        check="test_groups",
    ),
    Wrong(
        "stops at the first without a gradient",
        edits=[
            (
                PARAMS,
                '            for p in group["params"]:\n                if p.grad is None:\n                    break\n                if True:\n',
            )
        ],
        check="test_missing_gradients",
    ),
    Wrong(
        "zeros for a gradient that is missing",
        edits=[
            (PARAMS, '            for p in group["params"]:\n                if True:\n'),
            ("p.grad, group)", "torch.zeros_like(p) if p.grad is None else p.grad, group)"),
        ],
        check="test_missing_gradients",
        says="without a gradient",
    ),
    Wrong(
        "decays without a gradient",
        edits=[
            (
                PARAMS,
                '            for p in group["params"]:\n                p.data.mul_(1 - group["lr"] * group["weight_decay"])\n                if p.grad is not None:\n',
            ),
            (DECAY, ""),
        ],
        check="test_missing_gradients",
        says="without a gradient",
    ),
    Wrong(
        "counts steps without a gradient",
        edits=[
            (
                PARAMS,
                '            for p in group["params"]:\n                if p.grad is None and self.state[p]:\n                    self.state[p]["step"] += 1\n                if p.grad is not None:\n',
            )
        ],
        check="test_missing_gradients",
    ),
    Wrong(
        "a state for all from the start",
        edits=[
            (
                SUPER,
                SUPER
                + "        for group in self.param_groups:\n            for p in group['params']:\n                self.state[p].update(step=0, exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))\n",
            )
        ],
        check="test_missing_gradients",
        says="state",
    ),
    Wrong(
        "one t for all",
        edits=[
            (SUPER, SUPER + "        self.t = 0\n"),
            (GROUPS, "        self.t += 1\n" + GROUPS),
            (COUNT, '        state["step"] = self.t\n'),
        ],
        check="test_added_later",
    ),
    Wrong(
        "one t for each group",
        edits=[
            (GROUPS, GROUPS + '            group["t"] = group.get("t", 0) + 1\n'),
            (COUNT, '        state["step"] = group["t"]\n'),
        ],
        check="test_missing_gradients",
    ),
    Wrong(
        "one t for all optimizers",
        edits=[
            ("    @torch.no_grad()\n", "    t = 0\n\n    @torch.no_grad()\n"),
            (GROUPS, "        AdamW.t += 1\n" + GROUPS),
            (COUNT, '        state["step"] = AdamW.t\n'),
        ],
        check="test_two_optimizers",
    ),
    Wrong(
        "skips gradients of zero",
        edits=[("p.grad is not None:", "p.grad is not None and p.grad.any():")],
        check="test_gradient_of_zero",
    ),
    Wrong(
        "no decay at a gradient of zero",
        edits=[(DECAY, '        p.mul_(torch.where(grad == 0, 1.0, 1 - lr * group["weight_decay"]))\n')],
        check="test_gradient_of_zero",
    ),
    Wrong(
        "lists of moments, made at the start",
        edits=[
            (
                SUPER,
                SUPER
                + "        self.moments = {id(p): {} for group in self.param_groups for p in group['params']}\n",
            ),
            (STATE, "        state = self.moments[id(p)]\n"),
        ],
        check="test_added_later",
    ),
    Wrong(
        "the state beside self.state",
        edits=[
            (SUPER, SUPER + "        self.moments = {}\n"),
            (STATE, "        state = self.moments.setdefault(id(p), {})\n"),
        ],
        check="test_resumed",
    ),
    Wrong(
        "t beside self.state",
        edits=[
            (SUPER, SUPER + "        self.t = {}\n"),
            (
                COUNT,
                '        self.t[id(p)] = self.t.get(id(p), 0) + 1\n        state["step"] = self.t[id(p)]\n',
            ),
        ],
        check="test_resumed",
    ),
    Wrong(
        "moments begin with the gradient",
        edits=[(ZEROS, '            state["exp_avg"], state["exp_avg_sq"] = grad.clone(), grad.square()\n')],
        check="test_step_by_step",
    ),
    Wrong(
        "the first moment is the gradient itself",
        edits=[
            (
                M,
                "        if state['step'] == 1:\n            state['exp_avg'] = m = grad.mul_(1 - beta1)\n        else:\n            m.lerp_(grad, 1 - beta1)\n",
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "scales the gradient in place",
        edits=[(UPDATE, UPDATE + "        grad.mul_(0.5)\n")],
        check="test_memory",
        says="`.grad`",
    ),
    Wrong(
        "clears the gradients",
        edits=[(MOVE, MOVE + "                    p.grad = None\n")],
        check="test_memory",
        says="`.grad`",
    ),
    Wrong(
        "new memory",
        edits=[(UPDATE, '        p.data = p.data - lr / (1 - beta1 ** state["step"]) * m / root\n')],
        check="test_memory",
    ),
    Wrong(
        "moves a flat copy",
        edits=[
            (
                DECAY,
                "        p, m, v, grad = p.reshape(-1), m.reshape(-1), v.reshape(-1), grad.reshape(-1)\n"
                + DECAY,
            )
        ],
        check="test_memory",
    ),
    Wrong(
        "records a graph through data",
        edits=[(NO_GRAD, ""), (DECAY, "        p = p.data\n" + DECAY)],
        check="test_no_graph",
    ),
    Wrong(
        "switches recording off for good",
        edits=[(NO_GRAD, ""), (GROUPS, "        torch.set_grad_enabled(False)\n" + GROUPS)],
        check="test_no_graph",
        says="is_grad_enabled",
    ),
    Wrong(
        "switches recording on at the end",
        edits=[
            (NO_GRAD, ""),
            (GROUPS, "        torch.set_grad_enabled(False)\n" + GROUPS),
            ("        return result\n", "        torch.set_grad_enabled(True)\n        return result\n"),
        ],
        check="test_no_graph",
        says="is_grad_enabled",
    ),
    Wrong(
        "never a leaf again",
        edits=[(UPDATE, UPDATE + "        p.requires_grad_(False)\n")],
        check="test_no_graph",
    ),
    Wrong(
        "no gradients inside of closure",
        edits=[
            (
                "            with torch.enable_grad():\n                result = closure()\n",
                "            result = closure()\n",
            )
        ],
        check="test_closure",
    ),
    Wrong(
        "does not call closure",
        edits=[
            (
                "            with torch.enable_grad():\n                result = closure()\n",
                "            pass\n",
            )
        ],
        check="test_closure",
    ),
    Wrong(
        "returns nothing",
        edits=[("        return result\n", "        return None\n")],
        check="test_closure",
        says="does not return",
    ),
    Wrong(
        "returns self",
        edits=[("        return result\n", "        return self if result is None else result\n")],
        check="test_closure",
        says="without a closure",
    ),
    Wrong(
        "closure after the step",
        edits=[(CLOSURE, ""), ("        return result\n", CLOSURE + "        return result\n")],
        check="test_closure",
    ),
    Wrong(
        "closure twice",
        edits=[
            (
                "                result = closure()\n",
                "                closure()\n                result = closure()\n",
            )
        ],
        check="test_closure",
    ),
    Wrong(
        "a float of the loss",
        edits=[("        return result\n", "        return None if result is None else float(result)\n")],
        check="test_closure",
        says="does not return",
    ),
    Wrong("no checks", edits=[(CHECKS, "")], check="test_errors", says="no error"),
    Wrong("betas are not checked", edits=[(BETAS, "")], check="test_errors", says="betas"),
    Wrong(
        "only the first beta is checked",
        edits=[("for beta in betas)", "for beta in betas[:1])")],
        check="test_errors",
        says="betas",
    ),
    Wrong(
        "a beta of 1 passes",
        edits=[("0.0 <= beta < 1.0", "0.0 <= beta <= 1.0")],
        check="test_errors",
        says="betas",
    ),
    Wrong("zeros are refused", edits=[("if not value >= 0.0", "if not value > 0.0")], check="test_errors"),
    Wrong(
        "AssertionError",
        edits=[
            (
                CHECKS,
                "        assert lr >= 0 and eps >= 0 and weight_decay >= 0 and all(0 <= b < 1 for b in betas)\n",
            )
        ],
        check="test_errors",
        says="wrong error",
    ),
    Wrong(
        "torch's own class",
        code="import torch\n\n\nclass AdamW(torch.optim.AdamW):\n    pass\n",
        check="test_written_out",
        says="torch's own",
    ),
    Wrong(
        "torch's own class, inside",
        code="""
import torch
from torch.optim.adam import adam


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        if min(lr, eps, weight_decay, *betas) < 0 or max(betas) >= 1:
            raise ValueError("out of range")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                beta1, beta2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    s = self.state[p]
                    if not s:
                        s["step"] = torch.zeros(())
                        s["m"], s["v"] = torch.zeros_like(p), torch.zeros_like(p)
                    adam([p], [p.grad], [s["m"]], [s["v"]], [], [s["step"]], foreach=False,
                         decoupled_weight_decay=True, amsgrad=False, beta1=beta1, beta2=beta2, lr=group["lr"],
                         weight_decay=group["weight_decay"], eps=group["eps"], maximize=False)
        return loss
""",
        check="test_written_out",
        says="torch's own",
    ),
    Wrong(
        "the fused kernel",
        edits=[
            (
                DECAY + M + V + ROOT + UPDATE,
                '        if p.numel() and p.is_contiguous() and grad.is_contiguous() and p.device.type == "cpu":\n            torch._fused_adamw_([p], [grad], [m], [v], [], [torch.tensor(float(state["step"]))], lr=lr, beta1=beta1, beta2=beta2, weight_decay=group["weight_decay"], eps=group["eps"], amsgrad=False, maximize=False)\n            return\n'
                + DECAY
                + M
                + V
                + ROOT
                + UPDATE,
            )
        ],
        check="test_written_out",
        says="rules out",
    ),
    Wrong(
        "t on the device, read at each step",
        edits=[
            (
                '            state["step"] = 0\n',
                '            state["step"] = torch.zeros((), device=p.device)\n',
            ),
            (COUNT, COUNT + '        t = int(state["step"])\n'),
            ('beta2 ** state["step"]', "beta2**t"),
            ('beta1 ** state["step"]', "beta1**t"),
        ],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "moments on the CPU",
        edits=[
            (
                ZEROS,
                '            state["exp_avg"] = torch.zeros(p.shape, dtype=p.dtype)\n            state["exp_avg_sq"] = torch.zeros(p.shape, dtype=p.dtype)\n',
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "checks for NaN",
        edits=[(DECAY, "        if grad.isnan().any():\n            return\n" + DECAY)],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "clips large gradients",
        edits=[(M, "        grad = grad.clamp(-100, 100)\n" + M)],
        check="test_gradients_of_any_size",
    ),
    Wrong(
        "keeps the second moment away from zero",
        edits=[(ROOT, "        v.clamp_(min=1e-12)\n" + ROOT)],
        check="test_gradients_of_any_size",
    ),
    Wrong(
        "hides NaN",
        edits=[(M, "        grad = grad.nan_to_num()\n" + M)],
        check="test_gradients_of_any_size",
    ),
    Wrong(
        "t as a tensor that load_state_dict rounds to the dtype of p",
        edits=[
            ('            state["step"] = 0\n', '            state["t"] = torch.tensor(0.0, device="cpu")\n'),
            (COUNT, '        state["t"] = state["t"] + 1\n        n = state["t"].item()\n'),
            (ROOT, ROOT.replace('state["step"]', "n")),
            (UPDATE, UPDATE.replace('state["step"]', "n")),
        ],
        check="test_resumed",
        says="goes on from t = 1001",
    ),
    Wrong(
        "None for a loss of zero",
        edits=[("result = closure()", "result = closure() or None")],
        check="test_closure",
        says="returns 0.0",
    ),
    Wrong(
        "looks at the learning rates before it calls closure",
        edits=[
            (CLOSURE, "        rates = iter([group['lr'] for group in self.param_groups])\n" + CLOSURE),
            (GROUPS, GROUPS + "            group = {**group, 'lr': next(rates)}\n"),
        ],
        check="test_closure",
        says="sets lr",
    ),
    Right(
        "looks up the state of every parameter",
        edits=[
            (
                PARAMS,
                PARAMS.replace("                if", "                self.state[p]\n                if"),
            )
        ],
    ),
    Right(
        "new tensors written with copy_, t as a tensor on the host",
        edits=[
            (
                TAIL,
                """        state = self.state[p]
        t = state.get("step", torch.tensor(0.0, device="cpu")) + 1
        m, v = state.get("m", torch.zeros_like(p)), state.get("v", torch.zeros_like(p))
        (beta1, beta2), n = group["betas"], t.item()
        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        self.state[p] = {"step": t, "m": m, "v": v}
        m_hat, v_hat = m / (1 - beta1**n), v / (1 - beta2**n)
        decayed = p - group["lr"] * group["weight_decay"] * p
        p.copy_(decayed - group["lr"] * m_hat / (v_hat.sqrt() + group["eps"]))
""",
            )
        ],
    ),
    Right(
        "foreach, with the state under other names",
        edits=[
            ("    def step(", "    @torch.no_grad()\n    def step("),
            (
                PARAMS + MOVE,
                """            ps = [p for p in group["params"] if p.grad is not None]
            if not ps:
                continue
            for p in ps:
                if len(self.state[p]) == 0:
                    self.state[p] = dict(count=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
                self.state[p]["count"] += 1
            grads = [p.grad.detach() for p in ps]
            means, squares = ([self.state[p][key] for p in ps] for key in ("mean", "square"))
            (b1, b2), lr = group["betas"], group["lr"]
            torch._foreach_mul_(ps, 1 - lr * group["weight_decay"])
            torch._foreach_mul_(means, b1)
            torch._foreach_add_(means, grads, alpha=1 - b1)
            torch._foreach_mul_(squares, b2)
            torch._foreach_addcmul_(squares, grads, grads, 1 - b2)
            for p, mean, square in zip(ps, means, squares):
                n = self.state[p]["count"]
                denominator = square.sqrt() / (1 - b2**n) ** 0.5 + group["eps"]
                p.sub_(lr / (1 - b1**n) * (mean / denominator))
""",
            ),
        ],
    ),
    Right(
        "through data, step without a decorator",
        edits=[
            (NO_GRAD, ""),
            ("p.grad, group)", "p.grad.detach(), group)"),
            (DECAY, '        p = p.data\n        p -= lr * group["weight_decay"] * p\n'),
        ],
    ),
    Wrong(
        "returns a detached loss",
        edits=[
            (
                "        return result\n",
                "        return result.detach() if isinstance(result, Tensor) else result\n",
            )
        ],
        check="test_closure",
        says="another tensor",
    ),
]
