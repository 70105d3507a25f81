"""Answers to loss_scaler that people write."""

from grader.authoring.specimen import Right, Works, Wrong

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
AGAIN = """        if optimizer in self._stepped:
            raise RuntimeError("this optimizer has been stepped since the last update")
"""
ONCE = """        if optimizer not in self._finite:
            self.unscale_(optimizer)
"""
TAKE = """        if finite:
            optimizer.step()
        return finite
"""
BACK = """            self._good = 0
            self._scale *= self._backoff_factor
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
        "leaves the gradients scaled",
        edits=[(DIVIDE, "")],
        check="test_worked_example",
        says="still scaled",
        rung="job",
    ),
    Wrong(
        "looks for inf only",
        edits=flags("~torch.isinf(g).any()"),
        check="test_bad_gradients_skip_the_step",
        says="nan",
        rung="job",
    ),
    Wrong(
        "looks for NaN only",
        edits=flags("~torch.isnan(g).any()"),
        check="test_bad_gradients_skip_the_step",
        says="inf",
        rung="job",
    ),
    Wrong(
        "the first group only",
        edits=[(PARAMS, '        params = optimizer.param_groups[0]["params"]\n')],
        check="test_beside_pytorch",
        rung="job",
    ),
    Wrong(
        "cleans the gradients and steps",
        edits=[
            (DIVIDE, DIVIDE.replace("g.div_(self._scale)", "g.div_(self._scale).nan_to_num_(0, 0, 0)")),
            ("        if finite:\n            optimizer.step()", "        optimizer.step()"),
        ],
        check="test_bad_gradients_skip_the_step",
        says="number of steps",
        rung="job",
    ),
    Wrong(
        "step divides again after unscale_",
        edits=[(ONCE, "        self._finite.pop(optimizer, None)\n        self.unscale_(optimizer)\n")],
        check="test_unscale_then_step",
        says="divides again",
        rung="job",
    ),
    Wrong(
        "grows one iteration late",
        edits=[("self._good == self._growth_interval", "self._good > self._growth_interval")],
        check="test_course_of_the_scale",
        says="an iteration late",
        rung="job",
    ),
    Wrong(
        "good iterations need not be in a row",
        edits=[(BACK, "            self._scale *= self._backoff_factor\n")],
        check="test_course_of_the_scale",
        says="need not be in a row",
        rung="job",
    ),
    Wrong(
        "never backs off",
        edits=[(BACK, "            self._good = 0\n")],
        check="test_course_of_the_scale",
        says="never shrinks",
        rung="job",
    ),
    Wrong(
        "always halves",
        edits=[("self._scale *= self._backoff_factor", "self._scale *= 0.5")],
        check="test_course_of_the_scale",
        says="always halves",
        rung="job",
    ),
    Wrong(
        "scales by the first scale for ever",
        edits=[
            (SCALE, SCALE.replace("self._scale", "self._first")),
            ("        self._scale = init_scale\n", "        self._scale = self._first = init_scale\n"),
        ],
        check="test_scaled_loss",
        says="first scale",
        rung="job",
    ),
    Wrong(
        "loads the scale and the options, not the count",
        edits=[('        self._good = state_dict["_growth_tracker"]\n', "")],
        check="test_state_dict",
        says="count is lost",
        rung="job",
    ),
    Wrong(
        "torch's scaler under another name",
        code="""
import torch


class LossScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval)

    def step(self, optimizer):
        self.scale(torch.zeros(()))
        return super().step(optimizer)
""",
        check="test_own_computation",
        says="rules out",
        rung="job",
    ),
    Wrong(
        "returns what the optimizer returns",
        edits=[(TAKE, "        if finite:\n            return optimizer.step()\n        return None\n")],
        check="test_step_tells",
        says="None",
    ),
    Wrong(
        "scales in the dtype of the loss, and widens then",
        edits=[
            (
                SCALE,
                "        return (loss * self._scale).to(torch.promote_types(loss.dtype, torch.float32))\n",
            )
        ],
        check="test_half_losses",
        says="widened then",
    ),
    Wrong(
        "looks at sums",
        edits=flags("torch.isfinite(g.sum())"),
        check="test_large_gradients_are_finite",
        says="3e38",
    ),
    Wrong(
        "new tensors in place of division in place",
        edits=[
            (
                DIVIDE,
                "        for p in params:\n            if p.grad is not None:\n                p.grad = p.grad / self._scale\n",
            )
        ],
        check="test_in_place",
        says="another object",
    ),
    Wrong("takes float16 gradients", edits=[(HALF, "")], check="test_half_gradients", says="no error"),
    Wrong(
        "the optimizer that came last decides",
        edits=[("all(self._finite.values())", "list(self._finite.values())[-1]")],
        check="test_two_optimizers",
        says="came last",
    ),
    Wrong("unscales as often as it is told", edits=[(TWICE, "")], check="test_out_of_turn", says="no error"),
    Wrong("steps twice", edits=[(AGAIN, "")], check="test_out_of_turn", says="step(optimizer) after step"),
    Wrong(
        "a key of its own for the count",
        edits=[
            ('"_growth_tracker": self._good,', '"growth_tracker": self._good,'),
            ('state_dict["_growth_tracker"]', 'state_dict["growth_tracker"]'),
        ],
        check="test_exchange_with_pytorch",
        says="growth_tracker",
    ),
    Wrong(
        "waits once for each gradient",
        edits=flags("torch.tensor(bool(torch.isfinite(g).all()))"),
        check="test_on_a_device",
        says="waits",
    ),
    Works(
        "a quick one: a flag, no errors, and nothing of the fine print",
        code="""
import torch


class LossScaler:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        self.s = init_scale
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = growth_interval
        self.good_steps = 0
        self.unscaled = False
        self.found_inf = False

    def get_scale(self):
        return self.s

    def scale(self, loss):
        return loss * self.s

    def unscale_(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = p.grad / self.s
                    if not torch.isfinite(p.grad).all():
                        self.found_inf = True
        self.unscaled = True

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        if not self.found_inf:
            optimizer.step()

    def update(self):
        if self.found_inf:
            self.s *= self.backoff_factor
            self.good_steps = 0
        else:
            self.good_steps += 1
            if self.good_steps == self.growth_interval:
                self.s *= self.growth_factor
                self.good_steps = 0
        self.unscaled = False
        self.found_inf = False

    def state_dict(self):
        return self.__dict__.copy()

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
""",
    ),
    Works(
        "as DeepSpeed's and Apex's scalers: the sum of each gradient tells of an overflow",
        code="""
import math


class LossScaler:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        self.cur_scale = init_scale
        self.scale_factor, self.backoff = growth_factor, backoff_factor
        self.scale_window = growth_interval
        self.unskipped, self.overflow, self.done = 0, False, set()

    def get_scale(self):
        return self.cur_scale

    def scale(self, loss):
        return loss.float() * self.cur_scale

    def unscale_(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                total = float(p.grad.float().sum())
                if total in (math.inf, -math.inf) or total != total:
                    self.overflow = True
                p.grad.data.mul_(1.0 / self.cur_scale)
        self.done.add(optimizer)

    def step(self, optimizer):
        if optimizer not in self.done:
            self.unscale_(optimizer)
        if not self.overflow:
            optimizer.step()
        return not self.overflow

    def update(self):
        if self.overflow:
            self.cur_scale = max(self.cur_scale * self.backoff, 1.0)
            self.unskipped = 0
        else:
            self.unskipped += 1
        if self.unskipped == self.scale_window:
            self.cur_scale *= self.scale_factor
            self.unskipped = 0
        self.overflow, self.done = False, set()

    def state_dict(self):
        return {
            "loss_scale": self.cur_scale,
            "unskipped": self.unskipped,
            "options": (self.scale_factor, self.backoff, self.scale_window),
        }

    def load_state_dict(self, state_dict):
        self.cur_scale, self.unskipped = state_dict["loss_scale"], state_dict["unskipped"]
        self.scale_factor, self.backoff, self.scale_window = state_dict["options"]
""",
    ),
    Right(
        "the scale is a float32 tensor, and everything foreach",
        code="""
import torch


class LossScaler:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
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
]
