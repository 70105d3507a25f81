"""Answers to adamw that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SUPER = "        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))\n"
CLOSURE = "            with torch.enable_grad():\n                result = closure()\n"
IF = "                if p.grad is not None:\n                    self._move(p, p.grad, group)\n"
STATE = "        state = self.state[p]\n"
ZEROS = '            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)\n'
COUNT = '        state["step"] += 1\n'
DECAY = '        p.mul_(1 - lr * group["weight_decay"])\n'
M = "        m.lerp_(grad, 1 - beta1)\n"
ROOT = '        root = (v / (1 - beta2 ** state["step"])).sqrt_().add_(group["eps"])\n'
UPDATE = '        p.addcdiv_(m, root, value=-lr / (1 - beta1 ** state["step"]))\n'
INIT = """
import torch

class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))
"""
CHECKED = INIT.replace(
    "        super()",
    """        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("negative")
        for beta in betas:
            if not 0 <= beta < 1:
                raise ValueError(f"beta {beta}")
        super()""",
)

SPECIMENS = [
    Wrong(
        "the decay goes through the gradient, as in Adam",
        edits=[(DECAY, '        grad = grad + group["weight_decay"] * p\n')],
        check="test_step_by_step",
        says="as in adam",
        rung="job",
    ),
    Wrong(
        "no bias correction",
        edits=[
            (ROOT, '        root = v.sqrt().add_(group["eps"])\n'),
            (UPDATE, "        p.addcdiv_(m, root, value=-lr)\n"),
        ],
        check="test_step_by_step",
        says="no bias correction",
        rung="job",
    ),
    Wrong(
        "t counts from 0",
        edits=[(COUNT, ""), (UPDATE, UPDATE + COUNT)],
        check="test_step_by_step",
        says="ZeroDivisionError",
        rung="job",
    ),
    Wrong(
        "eps is written into the formula",
        edits=[(ROOT, ROOT.replace('group["eps"]', "1e-8"))],
        check="test_step_by_step",
        says="not the eps of the call",
        rung="job",
    ),
    Wrong(
        "the options of the arguments for all groups",
        edits=[
            (SUPER, SUPER + "        self.common = dict(self.defaults)\n"),
            ("self._move(p, p.grad, group)", "self._move(p, p.grad, self.common)"),
        ],
        check="test_groups",
        says="not what the group says",
        rung="job",
    ),
    Wrong(
        "zeros for a gradient that is missing",
        edits=[
            (IF, "                self._move(p, torch.zeros_like(p) if p.grad is None else p.grad, group)\n")
        ],
        check="test_missing_gradients",
        says="never has a gradient",
        rung="job",
    ),
    Wrong(
        "stops at the first without a gradient",
        edits=[
            (
                IF,
                "                if p.grad is None:\n                    return result\n"
                "                self._move(p, p.grad, group)\n",
            )
        ],
        check="test_missing_gradients",
        says="with a gradient after step 1",
        rung="job",
    ),
    Wrong(
        "the moments beside self.state",
        edits=[
            (SUPER, SUPER + "        self.moments = {}\n"),
            (STATE, "        state = self.moments.setdefault(p, {})\n"),
        ],
        check="test_resumed",
        says="begin anew",
        rung="job",
    ),
    Wrong(
        "torch's own class",
        code="import torch\n\n\nclass AdamW(torch.optim.AdamW):\n    pass\n",
        check="test_written_out",
        says="torch's own",
        rung="job",
    ),
    Wrong(
        "eps beside √v, as in older code",
        edits=[
            (ROOT, '        root = (v.sqrt() + group["eps"]) / (1 - beta2 ** state["step"]) ** 0.5\n'),
        ],
        check="test_eps_in_the_first_steps",
        says="eps is added to √v",
    ),
    Wrong(
        "one t for the whole group",
        edits=[
            (
                "        for group in self.param_groups:\n",
                "        for group in self.param_groups:\n            group['step'] = group.get('step', 0) + 1\n",
            ),
            (COUNT, '        state["step"] = group["step"]\n'),
        ],
        check="test_added_later",
        says="steps of others",
    ),
    Wrong(
        "no gradients inside of closure",
        edits=[(CLOSURE, "            result = closure()\n")],
        check="test_closure",
        says="gradients are on",
    ),
    Wrong(
        "does not return what closure returns",
        edits=[("        return result\n", "")],
        check="test_closure",
        says="closure returns 0.25",
    ),
    Wrong(
        "new memory",
        edits=[(UPDATE, UPDATE.replace("p.addcdiv_(", "p.data = p.addcdiv("))],
        check="test_memory",
        says="memory that the parameter looked at",
    ),
    Wrong(
        "scales the gradient in place",
        edits=[(M, "        m.mul_(beta1).add_(grad.mul_(1 - beta1))\n        grad = grad / (1 - beta1)\n")],
        check="test_memory",
        says="`.grad` after a step",
    ),
    Wrong(
        "moments of the default dtype",
        edits=[(ZEROS, ZEROS.replace("zeros_like(p)", "zeros(p.shape)"))],
        check="test_float64",
    ),
    Wrong(
        "a beta of 1 passes",
        edits=[("0.0 <= beta < 1.0", "0.0 <= beta <= 1.0")],
        check="test_errors",
        says="(0.9, 1.0)",
    ),
    Wrong(
        "zeros are refused",
        edits=[("if not value >= 0.0", "if not value > 0.0")],
        check="test_zeros",
    ),
    Works(
        "the paper's algorithm, line by line",
        code=INIT
        + """
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            lr, eps, lam = group["lr"], group["eps"], group["weight_decay"]
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["t"] = 0
                    state["m"] = torch.zeros_like(p)
                    state["v"] = torch.zeros_like(p)
                state["t"] += 1
                state["m"] = beta1 * state["m"] + (1 - beta1) * g
                state["v"] = beta2 * state["v"] + (1 - beta2) * g**2
                m_hat = state["m"] / (1 - beta1 ** state["t"])
                v_hat = state["v"] / (1 - beta2 ** state["t"])
                p -= lr * (m_hat / (v_hat.sqrt() + eps) + lam * p)
""",
    ),
    Works(
        "as older code has it: the corrections in the step size, eps beside √v, gradients off by data",
        code=INIT
        + """
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(p.data)
                beta1, beta2 = group["betas"]
                state["step"] += 1
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                exp_avg = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
                exp_avg_sq = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                denom = exp_avg_sq.sqrt().add_(group["eps"])
                bias_correction1 = 1 - beta1 ** state["step"]
                bias_correction2 = 1 - beta2 ** state["step"]
                step_size = group["lr"] * bias_correction2 ** 0.5 / bias_correction1
                p.data.addcdiv_(exp_avg, denom, value=-step_size)
        return loss
""",
    ),
    Works(
        "one t for each group",
        code=INIT
        + """
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            group["t"] = group.get("t", 0) + 1
            (b1, b2), t = group["betas"], group["t"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                s = self.state[p]
                if not s:
                    s["m"], s["v"] = torch.zeros_like(p), torch.zeros_like(p)
                p *= 1 - group["lr"] * group["weight_decay"]
                s["m"].mul_(b1).add_((1 - b1) * p.grad)
                s["v"].mul_(b2).add_((1 - b2) * p.grad**2)
                p -= group["lr"] * (s["m"] / (1 - b1**t)) / ((s["v"] / (1 - b2**t)) ** 0.5 + group["eps"])
""",
    ),
    Right(
        "as torch has it: the root divided by √(1 - β₂ᵗ), t as a tensor",
        code=CHECKED
        + """
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                    state["exp_avg_sq"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                state["step"] += 1
                step = state["step"].item()
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad.conj(), value=1 - beta2)
                denom = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denom, value=-group["lr"] / (1 - beta1**step))
        return loss
""",
    ),
    Right(
        "foreach, with the state under other names",
        code=CHECKED
        + """
    @torch.no_grad()
    def step(self, closure=None):
        result = torch.enable_grad()(closure)() if closure is not None else None
        for group in self.param_groups:
            ps = [p for p in group["params"] if p.grad is not None]
            for p in ps:
                if len(self.state[p]) == 0:
                    self.state[p] = dict(count=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
                self.state[p]["count"] += 1
            if not ps:
                continue
            grads = [p.grad for p in ps]
            means, squares = ([self.state[p][key] for p in ps] for key in ("mean", "square"))
            (b1, b2), lr = group["betas"], group["lr"]
            torch._foreach_mul_(ps, 1 - lr * group["weight_decay"])
            torch._foreach_mul_(means, b1)
            torch._foreach_add_(means, grads, alpha=1 - b1)
            torch._foreach_mul_(squares, b2)
            torch._foreach_addcmul_(squares, grads, grads, 1 - b2)
            for p, mean, square in zip(ps, means, squares):
                n = self.state[p]["count"]
                p.sub_(lr / (1 - b1**n) * mean / (square.sqrt() / (1 - b2**n) ** 0.5 + group["eps"]))
        return result
""",
    ),
]
