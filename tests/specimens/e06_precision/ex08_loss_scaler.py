"""Answers to loss_scaler that people write."""

from grader.authoring.specimen import Right, Wrong

INIT = """        self._scale = float(init_scale)
        self._growth_factor, self._backoff_factor = float(growth_factor), float(backoff_factor)
        self._growth_interval, self._good = int(growth_interval), 0
"""
FINITE = "        self._finite: dict[torch.optim.Optimizer, Tensor | bool] = {}  # those unscaled in this iteration\n"
STEPPED = "        self._stepped: set[torch.optim.Optimizer] = set()\n"
SCALE = """        wide = torch.promote_types(loss.dtype, torch.float32)
        return loss.to(wide) * self._scale
"""
TWICE = """        if optimizer in self._finite:
            raise RuntimeError("unscale_ comes once for each optimizer, and before its step")
"""
PARAMS = '        params = [p for group in optimizer.param_groups for p in group["params"]]\n'
HALF = """        if any(g.dtype == torch.float16 for g in gradients):
            raise ValueError("float16 gradients vanish when unscaled: keep parameters in float32")
"""
FLAGS = "        flags = [torch.isfinite(g).all() for g in gradients]  # not of a sum, which can overflow\n"
DIVIDE = """        with torch.no_grad():
            for g in gradients:
                g.div_(self._scale)
"""
NOTE = (
    "        self._finite[optimizer] = torch.stack(flags).all() if flags else True  # still on the device\n"
)
AGAIN = """        if optimizer in self._stepped:
            raise RuntimeError("this optimizer has been stepped since the last update")
"""
ONCE = """        if optimizer not in self._finite:
            self.unscale_(optimizer)
"""
WAIT = "        finite = self._finite[optimizer] = bool(self._finite[optimizer])  # here the host waits\n"
TAKE = """        if finite:
            optimizer.step()
        return finite
"""
GROW = """            self._good += 1
            if self._good == self._growth_interval:
                self._good = 0
                grown = self._scale * self._growth_factor
                self._scale = grown if grown <= torch.finfo(torch.float32).max else self._scale
"""
BACK = """            self._good = 0
            self._scale *= self._backoff_factor
"""
CLEAR = "        self._finite, self._stepped = {}, set()\n"
STATE = """        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._good,
        }
"""
LOAD = """        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good = state_dict["_growth_tracker"]
"""


def flags(expression):
    """Another way to look for what is not finite."""
    return [(FLAGS, f"        flags = [{expression} for g in gradients]\n")]


SPECIMENS = [
    Wrong(
        "fails where no parameter has a gradient",
        edits=[("torch.stack(flags).all() if flags else True", "torch.stack(flags).all()")],
        check="test_nothing_to_unscale",
        says="none of whose parameters has a gradient",
    ),
    Wrong(
        "backs off for each optimizer",
        edits=[
            (
                "self._scale *= self._backoff_factor",
                "self._scale *= self._backoff_factor ** [bool(f) for f in self._finite.values()].count(False)",
            )
        ],
        check="test_two_optimizers",
        says="with ab spoiled",
    ),
    Wrong(
        "looks at gradients in float32",
        edits=[(FLAGS, FLAGS.replace("isfinite(g)", "isfinite(g.float())"))],
        check="test_large_gradients_are_finite",
        says="1.7e+308",
    ),
    Wrong(
        "a scale in the dtype of the loss",
        edits=[(SCALE, SCALE.replace("* self._scale", "* torch.tensor(self._scale, dtype=loss.dtype)"))],
        check="test_scaled_loss",
        says="2**17",
    ),
    Wrong(
        "no scale below the normal numbers",
        edits=[
            (
                "self._scale *= self._backoff_factor",
                "self._scale = max(self._scale * self._backoff_factor, torch.finfo(torch.float32).tiny)",
            )
        ],
        check="test_ends_of_the_scale",
        says="below the normal",
    ),
    Wrong(
        "counts as unscaled after the error",
        edits=[(HALF, "        self._finite[optimizer] = True\n" + HALF)],
        check="test_half_gradients",
        says="stepped after the error",
    ),
    Wrong(
        "divides gradients until a float16 one comes",
        edits=[
            (
                "if any(g.dtype == torch.float16 for g in gradients):",
                "if gradients and gradients[0].dtype == torch.float16:",
            ),
            (
                "                g.div_(self._scale)\n",
                "                if g.dtype == torch.float16:\n                    raise ValueError('float16')\n                g.div_(self._scale)\n",
            ),
        ],
        check="test_half_gradients",
    ),
    Wrong(
        "a scale of 1 gives the loss as it is, in float16",
        edits=[(SCALE, "        if self._scale == 1.0:\n            return loss\n" + SCALE)],
        check="test_scaled_loss",
        says="LossScaler(1.0)",
    ),
    Wrong(
        "scales in the dtype of the loss: float16 overflows",
        edits=[(SCALE, "        return loss * self._scale\n")],
        check="test_scaled_loss",
        says="float16",
    ),
    Wrong(
        "widens after scaling",
        edits=[
            (
                SCALE,
                "        return (loss * self._scale).to(torch.promote_types(loss.dtype, torch.float32))\n",
            )
        ],
        check="test_scaled_loss",
    ),
    Wrong(
        "always in float32",
        edits=[(SCALE, "        return loss.float() * self._scale\n")],
        check="test_scaled_loss",
        says="float64",
    ),
    Wrong(
        "cuts the graph of the loss",
        edits=[("loss.to(wide)", "loss.detach().to(wide)")],
        check="test_scaled_loss",
        says="no gradient",
    ),
    Wrong(
        "scales the loss in place",
        edits=[(SCALE, "        return loss.data.mul_(self._scale) + 0 * loss\n")],
        check="test_scaled_loss",
    ),
    Wrong(
        "the first scale for ever",
        edits=[
            (SCALE, SCALE.replace("self._scale", "self._first")),
            (FINITE, "        self._first = init_scale\n" + FINITE),
        ],
        check="test_course_of_the_scale",
        says="scale(loss)",
    ),
    Wrong(
        "new tensors in place of division in place",
        edits=[
            (
                DIVIDE,
                '        for group in optimizer.param_groups:\n            for p in group["params"]:\n                if p.grad is not None:\n                    p.grad = p.grad / self._scale\n',
            )
        ],
        check="test_unscaled_gradients",
        says="another object",
    ),
    Wrong(
        "new memory behind the same tensors",
        edits=[("g.div_(self._scale)", "g.data = g / self._scale")],
        check="test_unscaled_gradients",
        says="buffer",
    ),
    Wrong(
        "zeros where there is no gradient",
        edits=[
            (
                PARAMS,
                PARAMS
                + "        for p in params:\n            p.grad = torch.zeros_like(p) if p.grad is None else p.grad\n",
            )
        ],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "the first group only",
        edits=[(PARAMS, '        params = optimizer.param_groups[0]["params"]\n')],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "divides in float16 on the way",
        edits=[("g.div_(self._scale)", "g.copy_((g / self._scale).half())")],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "divides in float32 at most",
        edits=[("g.div_(self._scale)", "g.copy_(g.float() / self._scale)")],
        check="test_unscaled_gradients",
        says="float64",
    ),
    Wrong(
        "flushes small gradients to zero",
        edits=[
            (
                "g.div_(self._scale)",
                "g.div_(self._scale).masked_fill_(g.abs() < torch.finfo(g.dtype).tiny, 0.0)",
            )
        ],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "divides by the power of two below the scale",
        edits=[("g.div_(self._scale)", "g.div_(2.0 ** math.floor(math.log2(self._scale)))")],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "leaves the gradients scaled",
        edits=[(DIVIDE, "")],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "divides the parameters as well",
        edits=[(DIVIDE, DIVIDE + "            for p in params:\n                p.div_(self._scale)\n")],
        check="test_unscaled_gradients",
        says="a parameter itself",
    ),
    Wrong(
        "looks for inf only",
        edits=flags("~torch.isinf(g).any()"),
        check="test_bad_gradients_skip_the_step",
        says="nan",
    ),
    Wrong(
        "looks for NaN only",
        edits=flags("~torch.isnan(g).any()"),
        check="test_bad_gradients_skip_the_step",
        says="inf",
    ),
    Wrong(
        "takes -inf for finite",
        edits=flags("~(torch.isnan(g) | (g == math.inf)).any()"),
        check="test_bad_gradients_skip_the_step",
        says="-inf",
    ),
    Wrong(
        "looks at sums",
        edits=flags("torch.isfinite(g.sum())"),
        check="test_large_gradients_are_finite",
        says="3e+38",
    ),
    Wrong(
        "looks at the norm",
        edits=flags("torch.isfinite(g.norm())"),
        check="test_large_gradients_are_finite",
        says="3e+38",
    ),
    Wrong(
        "looks at the first number of each gradient",
        edits=flags("torch.isfinite(g.flatten()[:1]).all()"),
        check="test_bad_gradients_skip_the_step",
    ),
    Wrong(
        "looks at the last gradient",
        edits=[(NOTE, "        self._finite[optimizer] = flags[-1] if flags else True\n")],
        check="test_bad_gradients_skip_the_step",
    ),
    Wrong(
        "skips only where all gradients are bad",
        edits=[(NOTE, "        self._finite[optimizer] = torch.stack(flags).any() if flags else True\n")],
        check="test_bad_gradients_skip_the_step",
    ),
    Wrong(
        "the largest value: an error for empty gradients",
        edits=flags("torch.isfinite(g.abs().max())"),
        check="test_unscaled_gradients",
    ),
    Wrong(
        "takes what is too large for float16 for an overflow",
        edits=flags("(g.abs() <= 65504).all()"),
        check="test_large_gradients_are_finite",
    ),
    Wrong(
        "steps with zeros in place of skipping: momentum and decay go on",
        edits=[
            (
                TAKE,
                """        if not finite:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad.zero_()
        optimizer.step()
        return finite
""",
            )
        ],
        check="test_bad_gradients_skip_the_step",
        says="steps",
    ),
    Wrong(
        "cleans the gradients of a step that it skips",
        edits=[(DIVIDE, DIVIDE.replace("g.div_(self._scale)", "g.div_(self._scale).nan_to_num_(0, 0, 0)"))],
        check="test_what_was_noted_counts",
        says="holds inf",
    ),
    Wrong(
        "cleans the gradients and steps",
        edits=[
            (DIVIDE, DIVIDE.replace("g.div_(self._scale)", "g.div_(self._scale).nan_to_num_()")),
            ("        if finite:\n            optimizer.step()", "        optimizer.step()"),
        ],
        check="test_bad_gradients_skip_the_step",
    ),
    Wrong(
        "always steps",
        edits=[("        if finite:\n            optimizer.step()", "        optimizer.step()")],
        check="test_bad_gradients_skip_the_step",
    ),
    Wrong(
        "returns what the optimizer returns",
        edits=[(TAKE, "        if finite:\n            return optimizer.step()\n        return False\n")],
        check="test_bad_gradients_skip_the_step",
        says="None",
    ),
    Wrong(
        "step divides again after unscale_",
        edits=[
            (ONCE, "        self._finite.pop(optimizer, None)\n        self.unscale_(optimizer)\n"),
        ],
        check="test_unscale_then_step",
    ),
    Wrong(
        "step looks at the gradients again",
        edits=[
            (
                WAIT,
                WAIT
                + '        finite = all(bool(torch.isfinite(p.grad).all()) for group in optimizer.param_groups for p in group["params"] if p.grad is not None)\n',
            )
        ],
        check="test_what_was_noted_counts",
    ),
    Wrong(
        "update looks at skipped steps only",
        edits=[
            ("if all(self._finite.values()):", "if all(self._finite[o] for o in self._stepped):"),
        ],
        check="test_what_was_noted_counts",
        says="no step was tried",
    ),
    Wrong("never grows", edits=[("self._good += 1", "self._good += 0")], check="test_course_of_the_scale"),
    Wrong(
        "grows one iteration late",
        edits=[("self._good == self._growth_interval", "self._good > self._growth_interval")],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "counts on after growing: it grows in every later iteration",
        edits=[
            ("self._good == self._growth_interval", "self._good >= self._growth_interval"),
            ("                self._good = 0\n                grown", "                grown"),
        ],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "good iterations need not be in a row",
        edits=[(BACK, "            self._scale *= self._backoff_factor\n")],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "never backs off", edits=[(BACK, "            self._good = 0\n")], check="test_course_of_the_scale"
    ),
    Wrong(
        "always halves",
        edits=[("self._scale *= self._backoff_factor", "self._scale *= 0.5")],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "always doubles",
        edits=[("self._scale * self._growth_factor", "self._scale * 2.0")],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "divides by the back-off factor",
        edits=[("self._scale *= self._backoff_factor", "self._scale /= self._backoff_factor")],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "another default interval",
        edits=[("growth_interval: int = 2000", "growth_interval: int = 1000")],
        check="test_after_two_thousand",
    ),
    Wrong(
        "grows without end",
        edits=[("grown if grown <= torch.finfo(torch.float32).max else self._scale", "grown")],
        check="test_ends_of_the_scale",
        says="end of float32",
    ),
    Wrong(
        "grows to the largest number of float32",
        edits=[
            (
                "grown if grown <= torch.finfo(torch.float32).max else self._scale",
                "min(grown, torch.finfo(torch.float32).max)",
            )
        ],
        check="test_ends_of_the_scale",
    ),
    Wrong(
        "ends at the range of float16",
        edits=[("torch.finfo(torch.float32).max", "65504.0")],
        check="test_course_of_the_scale",
    ),
    Wrong(
        "counts on where growing would end in inf",
        edits=[
            (
                GROW,
                """            self._good += 1
            grown = self._scale * self._growth_factor
            if self._good >= self._growth_interval and grown <= torch.finfo(torch.float32).max:
                self._good = 0
                self._scale = grown
""",
            )
        ],
        check="test_ends_of_the_scale",
    ),
    Wrong(
        "never below 1",
        edits=[
            (
                "self._scale *= self._backoff_factor",
                "self._scale = max(1.0, self._scale * self._backoff_factor)",
            )
        ],
        check="test_ends_of_the_scale",
        says="below 1",
    ),
    Wrong(
        "never loads a scale below 1",
        edits=[('self._scale = state_dict["scale"]', 'self._scale = max(1.0, state_dict["scale"])')],
        check="test_ends_of_the_scale",
        says="has loaded",
    ),
    Wrong(
        "the optimizer that came last decides",
        edits=[("all(self._finite.values())", "list(self._finite.values())[-1]")],
        check="test_two_optimizers",
    ),
    Wrong(
        "one skips, all skip",
        edits=[(WAIT, WAIT + "        finite = all(self._finite.values())\n")],
        check="test_two_optimizers",
    ),
    Wrong(
        "backs off once for each optimizer",
        edits=[
            (
                BACK,
                "            self._good = 0\n            for finite in self._finite.values():\n                self._scale *= self._backoff_factor\n",
            ),
        ],
        check="test_two_optimizers",
    ),
    Wrong(
        "counts steps in place of iterations",
        edits=[("self._good += 1", "self._good += len(self._finite)")],
        check="test_two_optimizers",
    ),
    Wrong(
        "findings are shared by all scalers",
        edits=[
            (FINITE, ""),
            (STEPPED, STEPPED + "\n    _finite: dict[torch.optim.Optimizer, Tensor | bool] = {}\n"),
            (CLEAR, "        self._finite.clear()\n        self._stepped = set()\n"),
        ],
        check="test_two_scalers",
    ),
    Wrong(
        "findings are kept on the optimizer",
        edits=[
            (NOTE, NOTE + "        optimizer.is_finite = self._finite[optimizer]\n"),
            (WAIT, "        finite = bool(optimizer.is_finite)\n        self._finite[optimizer] = finite\n"),
            ("all(self._finite.values())", "all(o.is_finite for o in self._finite)"),
        ],
        check="test_two_scalers",
    ),
    Wrong(
        "unscales as often as it is told",
        edits=[(TWICE, "")],
        check="test_out_of_turn",
        says="no error",
    ),
    Wrong(
        "a second unscale_ does nothing, silently",
        edits=[(TWICE, "        if optimizer in self._finite:\n            return\n")],
        check="test_out_of_turn",
        says="no error",
    ),
    Wrong(
        "unscale_ after step passes",
        edits=[
            (
                "        if optimizer in self._finite:\n            raise",
                "        if optimizer in self._finite and optimizer not in self._stepped:\n            raise",
            )
        ],
        check="test_out_of_turn",
        says="after step",
    ),
    Wrong("steps twice", edits=[(AGAIN, "")], check="test_out_of_turn", says="step(optimizer) after step"),
    Wrong(
        "a skipped step may be tried again",
        edits=[
            ("        self._stepped.add(optimizer)\n", ""),
            ("        if finite:\n", "        if finite:\n            self._stepped.add(optimizer)\n"),
        ],
        check="test_out_of_turn",
        says="skipped",
    ),
    Wrong(
        "complains after it has divided",
        edits=[
            (TWICE, ""),
            (NOTE, "        if optimizer in self._finite:\n            raise RuntimeError('twice')\n" + NOTE),
        ],
        check="test_out_of_turn",
        says="a gradient after",
    ),
    Wrong(
        "asserts",
        edits=[(AGAIN, "        assert optimizer not in self._stepped\n")],
        check="test_out_of_turn",
        says="AssertionError",
    ),
    Wrong("takes float16 gradients", edits=[(HALF, "")], check="test_half_gradients", says="no error"),
    Wrong(
        "looks at the first gradient's dtype",
        edits=[("for g in gradients):", "for g in gradients[:1]):")],
        check="test_half_gradients",
    ),
    Wrong(
        "refuses all 16-bit gradients",
        edits=[("g.dtype == torch.float16 for", "g.dtype.itemsize == 2 for")],
        check="test_unscaled_gradients",
    ),
    Wrong(
        "the state dict is the scaler's own dict",
        edits=[
            (
                STATE,
                """        self._state = getattr(self, "_state", {})
        self._state.update(
            scale=self._scale,
            growth_factor=self._growth_factor,
            backoff_factor=self._backoff_factor,
            growth_interval=self._growth_interval,
            _growth_tracker=self._good,
        )
        return self._state
""",
            )
        ],
        check="test_state_dict",
        says="has gone on",
    ),
    Wrong(
        "keeps the dict that it loads, and writes into it",
        edits=[
            (LOAD, LOAD + "        self._loaded = state_dict\n"),
            (
                CLEAR,
                CLEAR
                + '        if getattr(self, "_loaded", None):\n            self._loaded["scale"] = self._scale\n',
            ),
        ],
        check="test_state_dict",
        says="loaded it",
    ),
    Wrong(
        "the state dict holds a tensor",
        edits=[('"scale": self._scale,', '"scale": torch.tensor(self._scale),')],
        check="test_state_dict",
    ),
    Wrong(
        "forgets the count",
        edits=[('        self._good = state_dict["_growth_tracker"]\n', "")],
        check="test_state_dict",
    ),
    Wrong(
        "loads the scale and the count only",
        edits=[(LOAD, LOAD.splitlines(True)[0] + LOAD.splitlines(True)[-1])],
        check="test_state_dict",
    ),
    Wrong(
        "saves the first scale",
        edits=[
            ('"scale": self._scale,', '"scale": self._first,'),
            (FINITE, "        self._first = self._scale\n" + FINITE),
        ],
        check="test_state_dict",
    ),
    Wrong(
        "a key of its own for the count",
        edits=[
            ('"_growth_tracker": self._good,', '"growth_tracker": self._good,'),
            ('state_dict["_growth_tracker"]', 'state_dict["growth_tracker"]'),
        ],
        check="test_exchange_with_pytorch",
    ),
    Wrong(
        "torch's scaler under another name",
        code="""
import torch


class LossScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        if not (0 < init_scale < float("inf") and growth_factor > 1 and 0 < backoff_factor < 1 and growth_interval >= 1):
            raise ValueError("out of range")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval)

    def scale(self, loss):
        return super().scale(loss.float() if loss.dtype.itemsize == 2 else loss)

    def step(self, optimizer):
        self.scale(torch.zeros(()))
        hook_ran = []
        handle = optimizer.register_step_pre_hook(lambda *_: hook_ran.append(1))
        super().step(optimizer)
        handle.remove()
        return bool(hook_ran)
""",
        check="test_own_computation",
        says="rules out",
    ),
    Wrong(
        "takes every growth factor",
        edits=[("if not growth_factor > 1.0:", "if growth_factor <= 0.0:")],
        check="test_bad_arguments",
        says="no error",
    ),
    Wrong(
        "NaN slips through",
        edits=[("if not growth_factor > 1.0:", "if growth_factor <= 1.0:")],
        check="test_bad_arguments",
        says="nan",
    ),
    Wrong(
        "takes an interval of 0",
        edits=[("if not growth_interval >= 1:", "if growth_interval < 0:")],
        check="test_bad_arguments",
        says="no error",
    ),
    Wrong(
        "takes a back-off factor of 1",
        edits=[("0.0 < backoff_factor < 1.0", "0.0 < backoff_factor <= 1.0")],
        check="test_bad_arguments",
        says="no error",
    ),
    Wrong(
        "takes a scale of inf",
        edits=[("0.0 < init_scale < math.inf", "0.0 < init_scale")],
        check="test_bad_arguments",
        says="no error",
    ),
    Wrong(
        "waits once for each gradient",
        edits=flags("torch.tensor(bool(torch.isfinite(g).all()))"),
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "a scale on the CPU, which meets tensors that are not 0-dimensional",
        edits=[
            (
                "g.div_(self._scale)",
                "g.div_(torch.tensor([self._scale], dtype=g.dtype).squeeze(0).expand(g.shape))",
            )
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "takes iterations that are scaled too low to reach float16 for good: never scales below 2¹⁰",
        edits=[("* self._scale\n", "* max(1024.0, self._scale)\n")],
        check="test_scaled_loss",
    ),
    Wrong(
        "scales up to 2¹⁰ only, where tiny gradients are still lost",
        edits=[
            ("* self._scale\n", "* min(1024.0, self._scale)\n"),
            ("g.div_(self._scale)", "g.div_(min(1024.0, self._scale))"),
        ],
        check="test_small_gradients_arrive",
    ),
    Right(
        "the scale is a float32 tensor, and everything foreach",
        code="""
import torch


class LossScaler:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        checks = {
            "init_scale": 0 < init_scale < float("inf"),
            "growth_factor": growth_factor > 1,
            "backoff_factor": 0 < backoff_factor < 1,
            "growth_interval": growth_interval > 0,
        }
        for name, fine in checks.items():
            if not fine:
                raise ValueError(f"bad {name}")
        self.current = torch.tensor(init_scale, dtype=torch.float32)
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.tracker, self.seen = growth_interval, 0, {}

    def get_scale(self):
        return self.current.item()

    def scale(self, loss):
        return loss * self.current if loss.dtype == torch.float64 else torch.mul(loss.float(), self.get_scale())

    def unscale_(self, optimizer):
        if id(optimizer) in self.seen:
            raise RuntimeError("twice")
        grads = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        for g in grads:
            if g.dtype is torch.float16:
                raise ValueError("half")
        bad = torch.zeros((), dtype=torch.bool, device=grads[0].device if grads else None)
        for g in grads:
            bad = bad | (g - g != 0).any()
        if grads:
            torch._foreach_div_(grads, self.get_scale())
        self.seen[id(optimizer)] = [bad, False, optimizer]

    def step(self, optimizer):
        if id(optimizer) not in self.seen:
            self.unscale_(optimizer)
        entry = self.seen[id(optimizer)]
        if entry[1]:
            raise RuntimeError("stepped")
        entry[0], entry[1] = bool(entry[0]), True
        if entry[0]:
            return False
        optimizer.step()
        return True

    def update(self):
        if any(entry[0] for entry in self.seen.values()):
            self.current, self.tracker = self.current * self.backoff_factor, 0
        else:
            self.tracker += 1
            if self.tracker >= self.growth_interval:
                self.tracker = 0
                grown = self.current * self.growth_factor
                if torch.isfinite(grown):
                    self.current = grown
        self.seen = {}

    def state_dict(self):
        return dict(
            scale=self.get_scale(),
            growth_factor=float(self.growth_factor),
            backoff_factor=float(self.backoff_factor),
            growth_interval=int(self.growth_interval),
            _growth_tracker=self.tracker,
        )

    def load_state_dict(self, state_dict):
        self.current = torch.tensor(state_dict["scale"], dtype=torch.float32)
        for name in ("growth_factor", "backoff_factor", "growth_interval"):
            setattr(self, name, state_dict[name])
        self.tracker = state_dict["_growth_tracker"]
""",
    ),
    Right(
        "multiplies by the reciprocal, and joins the flags as numbers",
        edits=[
            (
                DIVIDE,
                "        inverse = 1.0 / self._scale\n        for p in params:\n            if p.grad is not None:\n                p.grad.detach().mul_(inverse)\n",
            ),
            (FLAGS, "        flags = [torch.isfinite(g).float().prod() for g in gradients]\n"),
            ("torch.stack(flags).all() if flags", "torch.stack(flags).min() if flags"),
            (SCALE, "        return self._scale * (loss if loss.dtype == torch.float64 else loss.float())\n"),
        ],
    ),
    Wrong(
        "an optimizer that was unscaled and not stepped stays so after update",
        edits=[
            (
                CLEAR,
                "        for optimizer in self._stepped:\n            del self._finite[optimizer]\n        self._stepped = set()\n",
            )
        ],
        check="test_out_of_turn",
        says="unscale_",
    ),
    Wrong(
        "counts as stepped where float16 gradients were refused",
        edits=[(ONCE, "        self._stepped.add(optimizer)\n" + ONCE)],
        check="test_half_gradients",
        says="has been stepped since",
    ),
    Wrong(
        "grows to 2¹²⁷ at most",
        edits=[("grown <= torch.finfo(torch.float32).max", "grown <= 2.0**127")],
        check="test_ends_of_the_scale",
        says="3e38",
    ),
    Wrong(
        "NaN is no backoff_factor out of range",
        edits=[("if not 0.0 < backoff_factor < 1.0:", "if backoff_factor <= 0.0 or backoff_factor >= 1.0:")],
        check="test_bad_arguments",
        says="nan",
    ),
    Wrong(
        "keeps the scale as an int",
        edits=[("self._scale = float(init_scale)", "self._scale = init_scale")],
        check="test_state_dict",
        says="float",
    ),
    Wrong(
        "a step that returns something was not taken",
        edits=[("            optimizer.step()\n", "            return optimizer.step() is None\n")],
        check="test_unscale_then_step",
        says="0.25",
    ),
    Wrong(
        "clears the gradients where it takes no step",
        edits=[(TAKE, "        if not finite:\n            optimizer.zero_grad()\n" + TAKE)],
        check="test_what_was_noted_counts",
        says="clears gradients",
    ),
    Wrong(
        "makes the gradients 0 where it takes no step",
        edits=[(TAKE, "        if not finite:\n            optimizer.zero_grad(set_to_none=False)\n" + TAKE)],
        check="test_what_was_noted_counts",
        says="clears gradients",
    ),
    Wrong(
        "looks for float16 and divides group by group",
        edits=[
            (
                PARAMS
                + "        gradients = [p.grad for p in params if p.grad is not None]\n"
                + HALF
                + FLAGS
                + DIVIDE,
                "        flags = []\n"
                "        for group in optimizer.param_groups:\n"
                '            gradients = [p.grad for p in group["params"] if p.grad is not None]\n'
                "            if any(g.dtype == torch.float16 for g in gradients):\n"
                '                raise ValueError("float16 gradients vanish when unscaled")\n'
                "            for g in gradients:\n"
                "                flags.append(torch.isfinite(g).all())\n"
                "                g.div_(self._scale)\n",
            )
        ],
        check="test_half_gradients",
        says="the gradients after",
    ),
    Wrong(
        "scales a bfloat16 loss in bfloat16, which does not overflow",
        edits=[
            (
                SCALE,
                SCALE.replace(
                    "loss.to(wide) * self._scale",
                    "(loss * self._scale).to(wide) if loss.dtype == torch.bfloat16 else loss.to(wide) * self._scale",
                ),
            )
        ],
        check="test_scaled_loss",
        says="0.3",
    ),
    Wrong(
        "looks for inf in the sum as a double, which float64 gradients overflow",
        edits=[
            (
                FLAGS,
                "        flags = [torch.isfinite(g.sum(dtype=torch.float64)) for g in gradients]\n",
            )
        ],
        check="test_large_gradients_are_finite",
        says="float64",
    ),
    Wrong(
        "never grows to the largest number itself",
        edits=[(GROW, GROW.replace("grown <= ", "grown < "))],
        check="test_ends_of_the_scale",
        says="exactly",
    ),
    Wrong(
        "asks the default dtype whether it would hold inf",
        edits=[
            (GROW, GROW.replace("grown <= torch.finfo(torch.float32).max", "torch.tensor(grown).isfinite()"))
        ],
        check="test_ends_of_the_scale",
        says="default dtype torch.float64",
    ),
    Wrong(
        "takes what the optimizer returns for whether it has stepped",
        edits=[
            (
                TAKE,
                """        if finite:
            result = optimizer.step()
            return result is None or bool(result)
        return False
""",
            )
        ],
        check="test_unscale_then_step",
        says="returns 0.0",
    ),
    Wrong(
        "unscales again after a step that was skipped",
        edits=[
            (
                TWICE,
                TWICE.replace(
                    "in self._finite:", "in self._finite and self._finite[optimizer] is not False:"
                ),
            )
        ],
        check="test_out_of_turn",
        says="unscale_(optimizer) after a step that was skipped",
    ),
]
