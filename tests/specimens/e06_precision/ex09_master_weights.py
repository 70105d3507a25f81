"""Answers to master_weights that people write."""

from grader.authoring.specimen import Right, Wrong

PARAMS = (
    "        self._params = [p for p in model.parameters() if p.requires_grad]  # a shared one comes once\n"
)
MASTERS = "        self.masters = [p.detach().clone().float().requires_grad_() for p in self._params]\n"
MAKE = "        self.optimizer = make_optimizer(self.masters)\n"
PAIRS = "        for p, master in zip(self._params, self.masters, strict=True):\n            master.grad"
GRADIENT = "            master.grad = None if p.grad is None else p.grad.detach().float() / loss_scale\n"
STEP = """        self.optimizer.step()
        self._round()
"""
ZERO = """        for p in self._params:
            p.grad = None
"""
SAVE = """        masters = [master.detach() for master in self.masters]
        return {"masters": masters, "optimizer": self.optimizer.state_dict()}
"""
LOAD = """        with torch.no_grad():
            for master, value in zip(self.masters, state_dict["masters"], strict=True):
                master.copy_(value)
        self.optimizer.load_state_dict(state_dict["optimizer"])
        self._round()
"""
ROUND = "            p.copy_(master)  # rounds to the nearest\n"


SPECIMENS = [
    Wrong(
        "takes the optimizer's state out of the dict that it loads",
        edits=[('(state_dict["optimizer"])', '(state_dict.pop("optimizer"))')],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="entries",
    ),
    Wrong(
        "asks at every step which parameters train, and pairs them with the masters of the start",
        edits=[
            (
                PAIRS,
                PAIRS.replace(
                    "self._params", "[p for p in self._model.parameters() if p.requires_grad]"
                ).replace("strict=True", "strict=False"),
            ),
            (PARAMS, "        self._model = model\n" + PARAMS),
        ],
        check="test_gradients_of_now",
        says="attempting to assign a gradient",
    ),
    Wrong(
        "gradients in the order of the optimizer's groups",
        edits=[
            (
                PAIRS,
                PAIRS.replace(
                    "self.masters", "[m for g in self.optimizer.param_groups for m in g['params']]"
                ),
            )
        ],
        check="test_groups_and_schedulers",
        says="attempting to assign a gradient",
    ),
    Wrong(
        "masters of buffers, too",
        edits=[
            (
                PARAMS,
                PARAMS.replace(
                    "if p.requires_grad]",
                    "if p.requires_grad] + [b for b in model.buffers() if b.is_floating_point()]",
                ),
            )
        ],
        check="test_masters",
        says="number of masters",
    ),
    Wrong(
        "the learning rate of the new optimizer",
        edits=[
            (
                LOAD,
                LOAD.replace(
                    "        self._round()",
                    "        for group, rate in zip(self.optimizer.param_groups, rates):\n            group['lr'] = rate\n        self._round()",
                ).replace(
                    "        with",
                    "        rates = [group['lr'] for group in self.optimizer.param_groups]\n        with",
                ),
            )
        ],
        check="test_goes_on_as_if_it_had_not_stopped",
    ),
    Wrong(
        "remembers the last loss scale",
        edits=[
            ("loss_scale: float = 1.0", "loss_scale: float | None = None"),
            (PAIRS, "        loss_scale = self._last = loss_scale or getattr(self, '_last', 1.0)\n" + PAIRS),
        ],
        check="test_loss_scale",
        says="step(1)",
    ),
    Wrong(
        "divides by the loss scale only where there is one",
        edits=[
            (
                GRADIENT,
                GRADIENT.replace("/ loss_scale", "if loss_scale == 1 else p.grad.float() / loss_scale"),
            )
        ],
        check="test_gradients_of_their_own",
    ),
    Wrong(
        "no masters at all: the optimizer moves the model in 16 bits",
        edits=[
            (MASTERS, "        self.masters = [p.detach().float().requires_grad_() for p in self._params]\n"),
            (MAKE, "        self.optimizer = make_optimizer(self._params)\n"),
            (GRADIENT, "            master.grad = None\n"),
            (ROUND, "            master.copy_(p)\n"),
        ],
        check="test_masters",
    ),
    Wrong(
        "masters are made anew from the model at each step: tiny steps are lost",
        edits=[
            (
                PAIRS,
                "        with torch.no_grad():\n            for p, master in zip(self._params, self.masters, strict=True):\n                master.copy_(p)\n"
                + PAIRS,
            )
        ],
        check="test_tiny_steps_survive",
        says="float64 run",
    ),
    Wrong(
        "masters in the model's dtype",
        edits=[(".clone().float()", ".clone()")],
        check="test_masters",
        says="bfloat16",
    ),
    Wrong(
        "masters in float64",
        edits=[(".clone().float()", ".clone().double()")],
        check="test_masters",
        says="float64",
    ),
    Wrong(
        "the master of a float32 parameter is the parameter itself",
        edits=[
            (
                MASTERS,
                "        self.masters = [p.float().detach().requires_grad_() for p in self._params]\n",
            )
        ],
        check="test_masters",
        says="shares its memory",
    ),
    Wrong(
        "no master for float32 parameters",
        edits=[("if p.requires_grad]", "if p.requires_grad and p.dtype != torch.float32]")],
        check="test_masters",
        says="number of masters",
    ),
    Wrong(
        "masters for frozen parameters too",
        edits=[("for p in model.parameters() if p.requires_grad]", "for p in model.parameters()]")],
        check="test_masters",
        says="number of masters",
    ),
    Wrong(
        "masters carry a graph back to the model",
        edits=[("p.detach().clone().float().requires_grad_()", "p.float().clone()")],
        check="test_masters",
    ),
    Wrong(
        "make_optimizer is called again after loading",
        edits=[
            (
                '        self.optimizer.load_state_dict(state_dict["optimizer"])\n',
                '        self.optimizer = self._make(self.masters)\n        self.optimizer.load_state_dict(state_dict["optimizer"])\n',
            ),
            (MAKE, MAKE + "        self._make = make_optimizer\n"),
        ],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="other objects",
    ),
    Wrong(
        "make_optimizer is given a generator",
        edits=[(MAKE, "        self.optimizer = make_optimizer(master for master in self.masters)\n")],
        check="test_masters",
    ),
    Wrong(
        "a parameter that is shared gets two masters",
        edits=[
            (
                "[p for p in model.parameters() if p.requires_grad]",
                "[p for _, p in model.named_parameters(remove_duplicate=False) if p.requires_grad]",
            )
        ],
        check="test_shared_parameter",
        says="number of masters",
    ),
    Wrong(
        "divides in the model's dtype: float16 gradients vanish",
        edits=[("p.grad.detach().float() / loss_scale", "(p.grad.detach() / loss_scale).float()")],
        check="test_loss_scale",
        says="wrong values",
    ),
    Wrong(
        "divides the model's gradients in place",
        edits=[("p.grad.detach().float() / loss_scale", "p.grad.div_(loss_scale).float()")],
        check="test_loss_scale",
    ),
    Wrong(
        "divides float32 gradients of the model in place: float() makes no copy of them",
        edits=[("p.grad.detach().float() / loss_scale", "p.grad.detach().float().div_(loss_scale)")],
        check="test_loss_scale",
        says="of the model after step",
    ),
    Wrong(
        "ignores loss_scale",
        edits=[("p.grad.detach().float() / loss_scale", "p.grad.detach().float()")],
        check="test_loss_scale",
    ),
    Wrong(
        "multiplies by loss_scale",
        edits=[("p.grad.detach().float() / loss_scale", "p.grad.detach().float() * loss_scale")],
        check="test_loss_scale",
    ),
    Wrong(
        "the reciprocal in the model's dtype",
        edits=[
            (
                "p.grad.detach().float() / loss_scale",
                "p.grad.detach().float() * torch.tensor(1 / loss_scale, dtype=p.dtype, device=p.device).float()",
            )
        ],
        check="test_loss_scale",
    ),
    Wrong(
        "divides the learning rate in place of the gradients",
        edits=[
            (GRADIENT, GRADIENT.replace(" / loss_scale", "")),
            (
                STEP,
                """        for group in self.optimizer.param_groups:
            group["lr"] /= loss_scale
        self.optimizer.step()
        for group in self.optimizer.param_groups:
            group["lr"] *= loss_scale
        self._round()
""",
            ),
        ],
        check="test_loss_scale",
        says="gradient of master",
    ),
    Wrong(
        "gradients add up in the masters",
        edits=[
            (
                GRADIENT,
                """            if p.grad is not None:
                g = p.grad.float() / loss_scale
                master.grad = g if master.grad is None else master.grad + g
""",
            )
        ],
        check="test_gradients_of_now",
    ),
    Wrong(
        "a gradient from earlier stays in the master where the model has none",
        edits=[
            (
                GRADIENT,
                "            if p.grad is not None:\n                master.grad = p.grad.float() / loss_scale\n",
            )
        ],
        check="test_missing_gradients",
    ),
    Wrong(
        "zeros where there is no gradient: decay and momentum go on",
        edits=[("None if p.grad is None else", "torch.zeros_like(master) if p.grad is None else")],
        check="test_missing_gradients",
    ),
    Wrong(
        "an error where there is no gradient",
        edits=[("None if p.grad is None else ", "")],
        check="test_missing_gradients",
    ),
    Wrong(
        "takes the gradients away",
        edits=[(STEP, STEP + "        self.zero_grad()\n")],
        check="test_gradients_of_now",
    ),
    Wrong(
        "clears inf and NaN",
        edits=[
            ("p.grad.detach().float() / loss_scale", "(p.grad.detach().float() / loss_scale).nan_to_num()")
        ],
        check="test_gradients_of_now",
        says="inf",
    ),
    Wrong(
        "skips steps with inf or NaN",
        edits=[
            (
                STEP,
                """        found = [m.grad.isfinite().all() for m in self.masters if m.grad is not None]
        if not found or torch.stack(found).all():
            self.optimizer.step()
        self._round()
""",
            )
        ],
        check="test_gradients_of_now",
        says="inf",
    ),
    Wrong(
        "clips",
        edits=[(STEP, "        nn.utils.clip_grad_norm_(self.masters, 1.0)\n" + STEP)],
        check="test_steps",
    ),
    Wrong(
        "never writes the masters back",
        edits=[(STEP, "        self.optimizer.step()\n")],
        check="test_steps",
        says="rounded",
    ),
    Wrong(
        "writes back what was before the step",
        edits=[(STEP, "        self._round()\n        self.optimizer.step()\n")],
        check="test_steps",
        says="rounded",
    ),
    Wrong(
        "cuts digits off in place of rounding",
        edits=[
            (
                ROUND,
                """            if p.dtype == torch.bfloat16:
                p.copy_(((master.view(torch.int32) >> 16) << 16).view(torch.float32))
            else:
                p.copy_(master)
""",
            )
        ],
        check="test_steps",
        says="rounded",
    ),
    Wrong(
        "rounds by way of bfloat16 always",
        edits=[(ROUND, "            p.copy_(master.bfloat16())\n")],
        check="test_steps",
        says="rounded",
    ),
    Wrong(
        "rounds the masters as well",
        edits=[(ROUND, "            p.copy_(master)\n            master.copy_(p)\n")],
        check="test_tiny_steps_survive",
    ),
    Wrong(
        "points the parameters at the masters",
        edits=[(ROUND, "            p.data = master.data\n")],
        check="test_same_parameters",
    ),
    Wrong(
        "gives the parameters new memory",
        edits=[(ROUND, "            p.data = master.to(p.dtype, copy=True)\n")],
        check="test_same_parameters",
        says="memory",
    ),
    Wrong(
        "adds the difference in the model's dtype",
        edits=[(ROUND, "            p.add_((master - p.float()).to(p.dtype))\n")],
        check="test_steps",
    ),
    Wrong(
        "zero_grad clears the masters only",
        edits=[(ZERO, "        self.optimizer.zero_grad()\n")],
        check="test_missing_gradients",
        says="zero_grad",
    ),
    Wrong(
        "zero_grad of the whole model, with what is frozen",
        edits=[
            ("        self._params = [", "        self._model = model\n        self._params = ["),
            (ZERO, "        self._model.zero_grad()\n"),
        ],
        check="test_same_parameters",
        says="frozen parameter",
    ),
    Wrong(
        "zero_grad leaves zeros",
        edits=[
            (
                "            p.grad = None\n",
                "            p.grad = None if p.grad is None else torch.zeros_like(p.grad)\n",
            )
        ],
        check="test_missing_gradients",
        says="zero_grad",
    ),
    Wrong(
        "saves the masters in the model's dtype",
        edits=[
            (
                "masters = [master.detach() for master in self.masters]",
                "masters = [m.detach().to(p.dtype) for p, m in zip(self._params, self.masters)]",
            )
        ],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="a master in the state dict",
    ),
    Wrong(
        "loads new masters, which the optimizer does not know",
        edits=[
            (
                LOAD,
                """        self.masters = [value.clone().requires_grad_() for value in state_dict["masters"]]
        self.optimizer.load_state_dict(state_dict["optimizer"])
        self._round()
""",
            )
        ],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="other objects",
    ),
    Wrong(
        "the masters look at the dict that was loaded",
        edits=[("                master.copy_(value)\n", "                master.data = value.detach()\n")],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="dict that was loaded",
    ),
    Wrong(
        "loads the masters by way of the model",
        edits=[
            (
                LOAD,
                """        with torch.no_grad():
            for p, master, value in zip(self._params, self.masters, state_dict["masters"], strict=True):
                p.copy_(value)
                master.copy_(p)
        self.optimizer.load_state_dict(state_dict["optimizer"])
""",
            )
        ],
        check="test_goes_on_as_if_it_had_not_stopped",
    ),
    Wrong(
        "forgets the optimizer's state",
        edits=[('        self.optimizer.load_state_dict(state_dict["optimizer"])\n', "")],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="goes on",
    ),
    Wrong(
        "loads masters, and leaves the model as it is",
        edits=[(LOAD, LOAD.replace("        self._round()\n", ""))],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="a parameter of the model after load_state_dict",
    ),
    Wrong(
        "saves something that weights_only refuses",
        edits=[('"optimizer": self.optimizer.state_dict()', '"optimizer": self.optimizer')],
        check="test_goes_on_as_if_it_had_not_stopped",
    ),
    Wrong(
        "masters of one class attribute: two trainings share them",
        edits=[
            (MASTERS, MASTERS + "        type(self)._held = self.masters\n"),
            (ROUND, ROUND),
            (
                "    @torch.no_grad()\n    def _round(self) -> None:\n",
                "    @torch.no_grad()\n    def _round(self) -> None:\n        for p, master in zip(self._params, type(self)._held):\n            p.copy_(master)\n        return\n",
            ),
        ],
        check="test_two_models",
    ),
    Wrong(
        "options as they were at first",
        edits=[
            (MAKE, MAKE + '        self._lr = [group["lr"] for group in self.optimizer.param_groups]\n'),
            (
                STEP,
                '        for group, lr in zip(self.optimizer.param_groups, self._lr):\n            group["lr"] = lr\n'
                + STEP,
            ),
        ],
        check="test_groups_and_schedulers",
    ),
    Wrong(
        "steps of descent by hand",
        edits=[
            (
                STEP,
                """        lr = self.optimizer.param_groups[0]["lr"]
        with torch.no_grad():
            for master in self.masters:
                if master.grad is not None:
                    master -= lr * master.grad
        self._round()
""",
            )
        ],
        check="test_steps",
    ),
    Wrong(
        "one rate for all groups: the model's signs are lost in training",
        edits=[("p.grad.detach().float() / loss_scale", "p.grad.detach().float().abs() / loss_scale")],
        check="test_trains",
    ),
    Wrong(
        "masters on the CPU",
        edits=[
            (".clone().float()", ".clone().float().cpu()"),
            ("p.grad.detach().float() / loss_scale", "p.grad.detach().float().cpu() / loss_scale"),
        ],
        check="test_on_a_device",
    ),
    Wrong(
        "looks at every gradient: the host waits",
        edits=[("None if p.grad is None else", "None if p.grad is None or bool((p.grad == 0).all()) else")],
        check="test_on_a_device",
        says="waits",
    ),
    Right(
        "parameters as masters, foreach, and a deep copy of the state",
        code="""
import copy

import torch
from torch import nn


class MasterWeights:
    def __init__(self, model, make_optimizer):
        self.model, self.pairs = model, []
        for p in model.parameters():
            if p.requires_grad:
                self.pairs.append((p, nn.Parameter(torch.empty_like(p, dtype=torch.float32).copy_(p.data))))
        self.masters = [m for _, m in self.pairs]
        self.optimizer = make_optimizer(self.masters)

    @torch.no_grad()
    def write(self):
        torch._foreach_copy_([p for p, _ in self.pairs], self.masters)

    def step(self, loss_scale=1.0):
        inverse = 1.0 / loss_scale
        for p, m in self.pairs:
            m.grad = None
            if p.grad is not None:
                m.grad = p.grad.to(torch.float32, copy=True).mul_(inverse)
        self.optimizer.step()
        self.write()
        for m in self.masters:
            m.grad = None

    def zero_grad(self):
        for p, _ in self.pairs:
            p.grad = None

    def state_dict(self):
        return copy.deepcopy({"masters": [m.data for m in self.masters], "optimizer": self.optimizer.state_dict()})

    def load_state_dict(self, state_dict):
        state_dict = copy.deepcopy(state_dict)
        for m, value in zip(self.masters, state_dict["masters"]):
            m.data.copy_(value)
        self.optimizer.load_state_dict(state_dict["optimizer"])
        self.write()
""",
    ),
    Right(
        "an optimizer hook writes back, and the state dict holds the masters themselves",
        edits=[
            (MAKE, MAKE + "        self.optimizer.register_step_post_hook(lambda *_: self._round())\n"),
            (STEP, "        self.optimizer.step()\n"),
            (
                SAVE,
                '        return {"masters": list(self.masters), "optimizer": self.optimizer.state_dict()}\n',
            ),
            (ROUND, "            p.data.copy_(master.data.to(p.dtype))\n"),
        ],
    ),
    Wrong(
        "writes through a flat view, which a transposed weight does not have",
        edits=[("            p.copy_(master)", "            p.view(-1).copy_(master.view(-1))")],
        check="test_steps",
        says="view",
    ),
    Wrong(
        "writes into the model what has a gradient, and in a new process nothing has",
        edits=[
            (
                "            p.copy_(master)",
                "            if master.grad is not None:\n                p.copy_(master)",
            )
        ],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="before any step",
    ),
    Wrong(
        "writes back what has a gradient",
        edits=[
            (
                STEP,
                STEP.replace(
                    "        self._round()\n",
                    "        with torch.no_grad():\n            for p, master in zip(self._params, self.masters):\n                if master.grad is not None:\n                    p.copy_(master)\n",
                ),
            )
        ],
        check="test_moved_without_gradients",
        says="twice the wanted",
    ),
    Wrong(
        "a master of one number where there are no dimensions",
        edits=[
            (MASTERS, MASTERS.replace(".float()", ".float().reshape(p.shape or (1,))")),
            (
                GRADIENT,
                GRADIENT.replace(
                    "/ loss_scale",
                    "/ loss_scale\n            if master.grad is not None:\n                master.grad = master.grad.view_as(master)",
                ),
            ),
            (ROUND, "            p.copy_(master.view_as(p))\n"),
        ],
        check="test_steps",
    ),
    Wrong(
        "masters in the default dtype, which is float32 as a rule",
        edits=[(MASTERS, MASTERS.replace(".float()", ".to(torch.get_default_dtype())"))],
        check="test_masters",
        says="default dtype is float64",
    ),
]
