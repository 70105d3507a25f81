"""Answers to logistic_by_hand that people write."""

from grader.authoring.specimen import Right, Works, Wrong

DETACH = "    x, w, b, y = x.detach(), w.detach(), b.detach(), y.detach()\n"
Z = "    z = x @ w + b  # (batch,)\n"
LOSS = "    loss = -(y * a.log() + (1 - y) * (1 - a).log())  # (batch,)\n"
DLOSS_DZ = "    dloss_dz = a - y  # (batch,), the product of the two above, without dividing by 0\n"
DW = "    dw = (dloss_dz.unsqueeze(1) * dz_dw).mean(0)  # (features,)\n"

SPECIMENS = [
    Wrong(
        "the sum over the batch",
        edits=[(").mean(0)", ").sum(0)")],
        rung="job",
        check="test_gradient_of_the_mean",
        says="dw",
    ),
    Wrong(
        "a gradient for each message",
        edits=[(DW, "    dw = dloss_dz.unsqueeze(1) * dz_dw\n")],
        rung="job",
        check="test_gradient_of_the_mean",
        says="shape",
    ),
    Wrong(
        "broadcasts messages against features",
        edits=[("dloss_dz.unsqueeze(1)", "dloss_dz")],
        rung="job",
        check="test_gradient_of_the_mean",
    ),
    Wrong(
        "label minus probability",
        edits=[("= a - y", "= y - a")],
        rung="job",
        check="test_gradient_of_the_mean",
        says="sign",
    ),
    Wrong(
        "forgets the sign of the loss",
        edits=[("loss = -(", "loss = (")],
        rung="job",
        check="test_each_step",
        says="sign",
    ),
    Wrong(
        "the sign of the second term",
        edits=[("(1 - y) / (1 - a) - y / a", "-(1 - y) / (1 - a) - y / a")],
        rung="job",
        check="test_labels_from_zero_to_one",
        says="dloss_da",
    ),
    Wrong(
        "labels are taken for 0 or 1",
        edits=[
            (LOSS, "    loss = -torch.where(y == 1, a.log(), (1 - a).log())\n"),
            ("(1 - y) / (1 - a) - y / a", "torch.where(y == 1, -1 / a, 1 / (1 - a))"),
        ],
        rung="job",
        check="test_labels_from_zero_to_one",
        says="loss",
    ),
    Wrong(
        "the derivative of the sigmoid at a in place of z",
        edits=[("a * (1 - a)  # (batch,)", "torch.sigmoid(a) * (1 - torch.sigmoid(a))")],
        rung="job",
        check="test_each_step",
        says="da_dz",
    ),
    Wrong(
        "the mean loss",
        edits=[(".log())  # (batch,)\n    dloss_da", ".log()).mean()\n    dloss_da")],
        rung="job",
        check="test_each_step",
        says="loss",
    ),
    Wrong(
        "derives by x in place of w",
        edits=[("dz_dw = x ", "dz_dw = w.expand_as(x) ")],
        rung="job",
        check="test_each_step",
        says="dz_dw",
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
        rung="job",
        check="test_by_hand",
        says="backward",
    ),
    Wrong(
        "multiplies inf by 0",
        edits=[(DLOSS_DZ, "    dloss_dz = dloss_da * da_dz\n")],
        rung="fine",
        check="test_large_z",
        says="NaN",
    ),
    Wrong(
        "ones in the default dtype",
        edits=[("torch.ones_like(z)", "torch.ones(len(z), device=z.device)")],
        rung="fine",
        check="test_dtype_and_strides",
        says="dz_db",
    ),
    Wrong(
        "ones on the CPU",
        edits=[("torch.ones_like(z)", "torch.ones(len(z), dtype=z.dtype)")],
        rung="fine",
        check="test_on_another_device",
    ),
    Wrong(
        "leaves the graph on",
        edits=[(DETACH, "")],
        rung="fine",
        check="test_no_graph",
        says="requires_grad of",
    ),
    Wrong(
        "loops over the messages",
        edits=[(Z, "    z = torch.stack([row @ w + b for row in x])\n")],
        rung="fine",
        check="test_no_loop",
        says="messages",
    ),
    Works(
        "factor by factor, as the text has it",
        edits=[
            (DETACH, ""),
            (DLOSS_DZ, "    dloss_dz = dloss_da * da_dz\n"),
            (DW, "    dw = (dloss_dz[:, None] * dz_dw).mean(dim=0)\n"),
        ],
    ),
    Works(
        "message by message",
        edits=[(DW, "    dw = torch.stack([d * row for d, row in zip(dloss_dz, dz_dw)]).mean(0)\n")],
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
]
