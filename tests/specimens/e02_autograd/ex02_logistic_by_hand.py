"""Answers to logistic_by_hand that people write."""

from grader.authoring.specimen import Right, Wrong

DETACH = "    x, w, b, y = x.detach(), w.detach(), b.detach(), y.detach()\n"
Z = "    z = x @ w + b  # (batch,)\n"
LOSS = "    loss = -(y * a.log() + (1 - y) * (1 - a).log())  # (batch,)\n"
DLOSS_DZ = "    dloss_dz = a - y  # (batch,), the product of the two above, without dividing by 0\n"
DZ_DB = "    dz_db = torch.ones_like(z)  # (batch,)\n"
DW = "    dw = (dloss_dz.unsqueeze(1) * dz_dw).mean(0)  # (features,)\n"

SPECIMENS = [
    Wrong(
        "labels that require gradients put a graph on the loss",
        edits=[(DETACH, "    x, w, b = x.detach(), w.detach(), b.detach()\n")],
        check="test_no_graph",
        says="requires_grad of loss",
    ),
    Wrong(
        "multiplies inf by 0",
        edits=[(DLOSS_DZ, "    dloss_dz = dloss_da * da_dz\n")],
        check="test_large_z",
        says="NaN",
    ),
    Wrong(
        "a sigmoid that overflows",
        edits=[("torch.sigmoid(z)", "z.exp() / (1 + z.exp())")],
        check="test_large_z",
        says="NaN",
    ),
    Wrong(
        "keeps the probability away from 0 and 1",
        edits=[("torch.sigmoid(z)", "torch.sigmoid(z).clamp(1e-3, 1 - 1e-3)")],
        check="test_large_z",
    ),
    Wrong(
        "cuts z off at ±20",
        edits=[(Z, "    z = (x @ w + b).clamp(-20, 20)\n")],
        check="test_large_z",
        says="z of",
    ),
    Wrong(
        "the sum over the batch",
        edits=[(").mean(0)", ").sum(0)")],
        check="test_gradient_of_the_mean",
        says="dw",
    ),
    Wrong(
        "the sum over the batch for the bias",
        edits=[("(dloss_dz * dz_db).mean()", "(dloss_dz * dz_db).sum()")],
        check="test_gradient_of_the_mean",
        says="db",
    ),
    Wrong(
        "a gradient for each message",
        edits=[(DW, "    dw = dloss_dz.unsqueeze(1) * dz_dw\n")],
        check="test_gradient_of_the_mean",
        says="shape",
    ),
    Wrong(
        "broadcasts messages against features",
        edits=[("dloss_dz.unsqueeze(1)", "dloss_dz")],
        check="test_gradient_of_the_mean",
    ),
    Wrong(
        "the mean over the features",
        edits=[(DW, "    dw = dloss_dz @ dz_dw / x.shape[1]\n")],
        check="test_gradient_of_the_mean",
    ),
    Wrong(
        "label minus probability",
        edits=[("= a - y", "= y - a")],
        check="test_gradient_of_the_mean",
        says="sign",
    ),
    Wrong(
        "forgets the sign of the loss",
        edits=[("loss = -(", "loss = (")],
        check="test_each_step",
        says="sign",
    ),
    Wrong(
        "the sign of the second term",
        edits=[("(1 - y) / (1 - a) - y / a", "-(1 - y) / (1 - a) - y / a")],
        check="test_labels_from_zero_to_one",
        says="dloss_da",
    ),
    Wrong(
        "derives the loss as if all labels were 1",
        edits=[("(1 - y) / (1 - a) - y / a", "-1 / a")],
        check="test_each_step",
        says="dloss_da",
    ),
    Wrong(
        "labels are taken for 0 or 1",
        edits=[
            (LOSS, "    loss = -torch.where(y == 1, a.log(), (1 - a).log())\n"),
            ("(1 - y) / (1 - a) - y / a", "torch.where(y == 1, -1 / a, 1 / (1 - a))"),
        ],
        check="test_labels_from_zero_to_one",
        says="loss",
    ),
    Wrong(
        "the derivative of the sigmoid at a in place of z",
        edits=[("a * (1 - a)  # (batch,)", "torch.sigmoid(a) * (1 - torch.sigmoid(a))")],
        check="test_each_step",
        says="da_dz",
    ),
    Wrong(
        "the derivative of tanh",
        edits=[("a * (1 - a)  # (batch,)", "1 - a * a")],
        check="test_each_step",
        says="da_dz",
    ),
    Wrong(
        "the mean loss",
        edits=[(".log())  # (batch,)\n    dloss_da", ".log()).mean()\n    dloss_da")],
        check="test_each_step",
        says="loss",
    ),
    Wrong(
        "log to base 2",
        edits=[("y * a.log() + (1 - y) * (1 - a).log()", "y * a.log2() + (1 - y) * (1 - a).log2()")],
        check="test_each_step",
        says="log2",
    ),
    Wrong("no bias", edits=[("x @ w + b", "x @ w")], check="test_each_step", says="z of"),
    Wrong(
        "derives by x in place of w",
        edits=[("dz_dw = x ", "dz_dw = w.expand_as(x) ")],
        check="test_each_step",
        says="dz_dw",
    ),
    Wrong(
        "a single 1 for the bias",
        edits=[("torch.ones_like(z)", "torch.tensor(1.0, dtype=z.dtype)")],
        check="test_each_step",
        says="dz_db",
    ),
    Wrong(
        "ones in the default dtype",
        edits=[("torch.ones_like(z)", "torch.ones(len(z), device=z.device)")],
        check="test_dtype",
        says="dz_db",
    ),
    Wrong(
        "float32 throughout",
        edits=[(DETACH, "    x, w, b, y = (t.detach().float() for t in (x, w, b, y))\n")],
        check="test_dtype",
        says="float64",
    ),
    Wrong(
        "ones on the CPU",
        edits=[("torch.ones_like(z)", "torch.ones(len(z), dtype=z.dtype)")],
        check="test_on_another_device",
    ),
    Wrong(
        "leaves the graph on",
        edits=[(DETACH, "")],
        check="test_no_graph",
        says="requires_grad of",
    ),
    Wrong(
        "switches the caller's gradients off",
        edits=[(DETACH, "    for t in (x, w, b):\n        t.requires_grad_(False)\n")],
        check="test_no_graph",
        says="changes requires_grad",
    ),
    Wrong(
        "lets autograd do it",
        edits=[
            (
                DW,
                """    with torch.enable_grad():
        v, c = w.clone().requires_grad_(), b.clone().requires_grad_()
        q = torch.sigmoid(x @ v + c)
        cost = -(y * q.log() + (1 - y) * (1 - q).log()).mean()
        cost.backward()
    dw = torch.where(v.grad.isnan(), (dloss_dz.unsqueeze(1) * dz_dw).mean(0), v.grad)
""",
            )
        ],
        check="test_by_hand",
        says="backward",
    ),
    Wrong(
        "lets torch.func do it",
        edits=[
            (
                "    da_dz = a * (1 - a)  # (batch,)\n",
                "    da_dz = torch.func.grad(lambda v: v.sigmoid().sum())(z)\n",
            )
        ],
        check="test_by_hand",
        says="grad",
    ),
    Wrong(
        "lets forward-mode autograd do it",
        edits=[
            (
                "    da_dz = a * (1 - a)  # (batch,)\n",
                "    da_dz = torch.func.jvp(torch.sigmoid, (z,), (torch.ones_like(z),))[1]\n",
            )
        ],
        check="test_by_hand",
    ),
    Wrong(
        "centres the messages in place",
        edits=[(DETACH, DETACH + "    x -= 0.0 * x\n    x += 1e-9\n")],
        check="test_strided_inputs",
    ),
    Wrong(
        "flattens with view",
        edits=[("x @ w + b", "(x.view(-1).view(x.shape) * w).sum(1) + b")],
        check="test_strided_inputs",
    ),
    Wrong(
        "loops over the messages",
        edits=[(Z, "    z = torch.stack([row @ w + b for row in x])\n")],
        check="test_no_loop",
        says="messages",
    ),
    Wrong(
        "loops over the features",
        edits=[(DW, "    dw = torch.stack([(dloss_dz * column).mean() for column in x.unbind(1)])\n")],
        check="test_no_loop",
        says="features",
    ),
    Right(
        "without gradients, with matrix products and a stable loss",
        code="""
from collections import namedtuple
import torch
import torch.nn.functional as F

Steps = namedtuple("Steps", "z a loss dloss_da da_dz dloss_dz dz_dw dz_db dw db")

@torch.no_grad()
def logistic_by_hand(x, w, b, y):
    z = torch.einsum("bf,f->b", x, w).add(b)
    a = z.sigmoid()
    rest = (-z).sigmoid()
    d = a - y
    return Steps(
        z=z, a=a, loss=F.softplus(z) - y * z, dloss_da=-y / a + (1 - y) / rest, da_dz=a * rest, dloss_dz=d,
        dz_dw=x.clone(), dz_db=z.new_ones(()).expand(len(z)), dw=d @ x / len(x), db=d.mean(),
    )
""",
    ),
    Right(
        "a dataclass, its own sigmoid, and one fraction",
        code="""
from dataclasses import dataclass
import torch

@dataclass
class Steps:
    z: torch.Tensor
    a: torch.Tensor
    loss: torch.Tensor
    dloss_da: torch.Tensor
    da_dz: torch.Tensor
    dloss_dz: torch.Tensor
    dz_dw: torch.Tensor
    dz_db: torch.Tensor
    dw: torch.Tensor
    db: torch.Tensor

def logistic_by_hand(x, w, b, y):
    with torch.inference_mode():
        z = (x * w).sum(-1) + b
        a = 1.0 / (1.0 + torch.exp(-z))
        loss = torch.nn.functional.binary_cross_entropy(a, y, reduction="none")
        da_dz = a - a.square()
        n = x.size(0)
        delta = a - y
        return Steps(z, a, loss, (a - y) / (a * (1 - a)), da_dz, delta, x.detach(), torch.full_like(z, 1.0),
                     torch.mv(x.mT, delta).div(n), delta.sum().div(n))
""",
    ),
    Wrong(
        "the product of both factors wherever |z| is below 50",
        edits=[(DLOSS_DZ, "    dloss_dz = torch.where(z.abs() > 50, a - y, dloss_da * da_dz)\n")],
        check="test_large_z",
        says="dloss_dz",
    ),
    Wrong(
        "keeps the slope that it divides by away from 0",
        edits=[("(1 - y) / (1 - a) - y / a", "(a - y) / (a * (1 - a)).clamp(min=1e-3)")],
        check="test_labels_from_zero_to_one",
        says="dloss_da",
    ),
]
