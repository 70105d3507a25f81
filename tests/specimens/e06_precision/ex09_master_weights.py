"""Answers to master_weights that people write."""

from grader.authoring.specimen import Right, Works, Wrong

PARAMS = "        self._params = [p for p in model.parameters() if p.requires_grad]\n"
MASTERS = "        self.masters = [p.detach().clone().float().requires_grad_() for p in self._params]\n"
MAKE = "        self.optimizer = make_optimizer(self.masters)\n"
PAIRS = "        for p, master in zip(self._params, self.masters, strict=True):\n            master.grad"
GRADIENT = "            master.grad = None if p.grad is None else p.grad.float() / loss_scale\n"
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
        "the optimizer moves the model in 16 bits",
        edits=[
            (MAKE, "        self.optimizer = make_optimizer(self._params)\n"),
            (GRADIENT, "            pass\n"),
            (ROUND, "            master.copy_(p)\n"),
        ],
        check="test_masters",
        says="other tensors than self.masters",
        rung="job",
    ),
    Wrong(
        "masters are made anew from the model at each step: tiny steps are lost",
        edits=[
            (
                PAIRS,
                "        with torch.no_grad():\n"
                "            for p, master in zip(self._params, self.masters, strict=True):\n"
                "                master.copy_(p)\n" + PAIRS,
            )
        ],
        check="test_tiny_steps_survive",
        says="made anew",
        rung="job",
    ),
    Wrong(
        "masters in the model's dtype",
        edits=[(".clone().float()", ".clone()")],
        check="test_masters",
        says="bfloat16",
        rung="job",
    ),
    Wrong(
        "divides in the model's dtype: float16 gradients vanish",
        edits=[("p.grad.float() / loss_scale", "(p.grad / loss_scale).float()")],
        check="test_loss_scale",
        says="widened then",
        rung="job",
    ),
    Wrong(
        "ignores loss_scale",
        edits=[("p.grad.float() / loss_scale", "p.grad.float()")],
        check="test_loss_scale",
        says="ignored",
        rung="job",
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
        check="test_steps",
        says="add up",
        rung="job",
    ),
    Wrong(
        "never writes the masters back",
        edits=[(STEP, "        self.optimizer.step()\n")],
        check="test_steps",
        says="before",
        rung="job",
    ),
    Wrong(
        "rounds by way of bfloat16 always",
        edits=[(ROUND, "            p.copy_(master.bfloat16())\n")],
        check="test_steps",
        says="by way of bfloat16",
        rung="job",
    ),
    Wrong(
        "zero_grad clears the masters only",
        edits=[(ZERO, "        self.optimizer.zero_grad()\n")],
        check="test_zero_grad",
        rung="job",
    ),
    Wrong(
        "forgets the optimizer's state",
        edits=[('        self.optimizer.load_state_dict(state_dict["optimizer"])\n', "")],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="state is lost",
        rung="job",
    ),
    Wrong(
        "loads masters, and leaves the model as it is",
        edits=[(LOAD, LOAD.replace("        self._round()\n", ""))],
        check="test_goes_on_as_if_it_had_not_stopped",
        says="after load_state_dict",
        rung="job",
    ),
    Wrong(
        "masters for frozen parameters too",
        edits=[("for p in model.parameters() if p.requires_grad]", "for p in model.parameters()]")],
        check="test_frozen_parameters",
        says="number of masters",
    ),
    Wrong(
        "the master of a float32 parameter is the parameter's memory",
        edits=[("p.detach().clone().float()", "p.detach().float()")],
        check="test_own_memory",
        says="shares its memory",
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
        says="after a step in which",
    ),
    Wrong(
        "zero_grad leaves zeros",
        edits=[("            p.grad = None\n", "            p.grad.zero_()\n")],
        check="test_missing_gradients",
        says="after zero_grad()",
    ),
    Wrong(
        "divides float32 gradients of the model in place: float() makes no copy of them",
        edits=[("p.grad.float() / loss_scale", "p.grad.float().div_(loss_scale)")],
        check="test_gradients_stay",
        says="after step(4.0)",
    ),
    Wrong(
        "gives the parameters new memory",
        edits=[(ROUND, "            p.data = master.to(p.dtype, copy=True)\n")],
        check="test_same_parameters",
        says="memory",
    ),
    Wrong(
        "the masters look at the dict that was loaded",
        edits=[("                master.copy_(value)\n", "                master.data = value.detach()\n")],
        check="test_state_dict",
        says="dict that was loaded",
    ),
    Wrong(
        "masters on the CPU",
        edits=[
            (".clone().float()", ".clone().float().cpu()"),
            ("p.grad.float() / loss_scale", "p.grad.float().cpu() / loss_scale"),
        ],
        check="test_on_a_device",
        says="not on the model's device",
    ),
    Works(
        "as NVIDIA's fp16_utils have it: three helpers",
        code="""
import torch


class MasterWeights:
    def __init__(self, model, make_optimizer):
        self.model_params = [p for p in model.parameters() if p.requires_grad]
        self.masters = [p.clone().float().detach() for p in self.model_params]
        for p in self.masters:
            p.requires_grad = True
        self.optimizer = make_optimizer(self.masters)

    def model_grads_to_master_grads(self):
        for model, master in zip(self.model_params, self.masters):
            if model.grad is not None:
                if master.grad is None:
                    master.grad = torch.empty_like(master)
                master.grad.data.copy_(model.grad.data)
            else:
                master.grad = None

    def master_params_to_model_params(self):
        for model, master in zip(self.model_params, self.masters):
            model.data.copy_(master.data)

    def step(self, loss_scale=1.0):
        self.model_grads_to_master_grads()
        for p in self.masters:
            if p.grad is not None:
                p.grad.data.mul_(1.0 / loss_scale)
        self.optimizer.step()
        self.master_params_to_model_params()

    def zero_grad(self):
        for p in self.model_params:
            if p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()

    def state_dict(self):
        return {"fp32_params": self.masters, "optimizer_state": self.optimizer.state_dict()}

    def load_state_dict(self, state_dict):
        self.optimizer.load_state_dict(state_dict["optimizer_state"])
        for p, saved in zip(self.masters, state_dict["fp32_params"]):
            p.data.copy_(saved.data)
        self.master_params_to_model_params()
""",
    ),
    Works(
        "a quick one: every parameter, and new memory at each step",
        code="""
import torch


class MasterWeights:
    def __init__(self, model, make_optimizer):
        self.model = model
        self.masters = [p.detach().clone().to(torch.float32).requires_grad_(True) for p in model.parameters()]
        self.optimizer = make_optimizer(self.masters)

    def step(self, loss_scale=1.0):
        for p, m in zip(self.model.parameters(), self.masters):
            m.grad = p.grad.to(torch.float32) / loss_scale
        self.optimizer.step()
        for p, m in zip(self.model.parameters(), self.masters):
            p.data = m.data.to(p.dtype)

    def zero_grad(self):
        self.model.zero_grad()

    def state_dict(self):
        return {"masters": self.masters, "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state_dict):
        for p, m, value in zip(self.model.parameters(), self.masters, state_dict["masters"]):
            m.data = value.data.clone()
            p.data = m.data.to(p.dtype)
        self.optimizer.load_state_dict(state_dict["optimizer"])
""",
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
]
