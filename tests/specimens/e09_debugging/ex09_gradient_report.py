"""Answers to gradient_report that people write."""

from grader.authoring.specimen import Right, Works, Wrong

NORM = "            norm = torch.linalg.vector_norm(p.grad.detach(), dtype=torch.float64)  # ()\n"
HAS = "        if p.grad is not None:\n"
WAIT = """    for found in by_device.values():
        norms.update(zip(found, torch.stack(list(found.values())).tolist(), strict=True))  # one wait
"""
NONE = '        return "none" if p.requires_grad else "frozen"\n'
BAD = '    if not math.isfinite(norm):\n        return "nonfinite"\n'
LARGE = '    if norm > limit:\n        return "exploding"\n'
REST = '    return "zero" if norm == 0 else "ok"\n'
STATE = "    if norm is None:\n"
ROWS = """    return [
        Gradient(name, norms.get(name), _state(p, norms.get(name), limit))
        for name, p in model.named_parameters()
    ]
"""


def norm(text):
    """The solution with another norm."""
    return [(NORM, f"            norm = {text}\n")]


SPECIMENS = [
    Wrong(
        "the square",
        edits=norm("p.grad.detach().double().square().sum()"),
        rung="job",
        check="test_norms",
        says="square root is missing",
    ),
    Wrong(
        "the norm of the parameter",
        edits=norm("p.detach().double().norm()"),
        rung="job",
        check="test_norms",
        says="of the parameter, not of its gradient",
    ),
    Wrong(
        "tensors for norms",
        edits=[(WAIT, "    for found in by_device.values():\n        norms.update(found)\n")],
        rung="job",
        check="test_norms",
        says="Tensor",
    ),
    Wrong(
        "no gradient is zero",
        edits=[(NONE, NONE.replace('"none"', '"zero"'))],
        rung="job",
        check="test_each_state",
        says="no gradient is not a gradient of zeros",
    ),
    Wrong(
        "no gradient is a gradient of 0",
        edits=[(ROWS, ROWS.replace("Gradient(name, norms.get(name)", "Gradient(name, norms.get(name, 0.0)"))],
        rung="job",
        check="test_after_a_backward",
        says="though there is no gradient",
    ),
    Wrong(
        "frozen is none",
        edits=[(NONE, '        return "none"\n')],
        rung="job",
        check="test_each_state",
        says="requires_grad",
    ),
    Wrong(
        "leaves parameters without a gradient out",
        edits=[
            (
                ROWS,
                ROWS.replace("named_parameters()\n", "named_parameters()\n        if p.grad is not None\n"),
            )
        ],
        rung="job",
        check="test_worked_example",
        says="have a row, too",
    ),
    Wrong(
        "every name of a shared parameter",
        edits=[(ROWS, ROWS.replace("named_parameters()", "named_parameters(remove_duplicate=False)"))],
        rung="job",
        check="test_after_a_backward",
    ),
    Wrong(
        "NaN alone is not finite",
        edits=[(BAD, '    if norm != norm:\n        return "nonfinite"\n')],
        rung="job",
        check="test_inf",
        says="ask for it first",
    ),
    Wrong(
        "inf alone is not finite",
        edits=[(BAD, '    if norm == float("inf"):\n        return "nonfinite"\n')],
        rung="job",
        check="test_each_state",
        says="no comparison with NaN",
    ),
    Wrong(
        "at the limit is above it",
        edits=[(LARGE, LARGE.replace(">", ">="))],
        rung="job",
        check="test_limit",
        says="just the limit",
    ),
    Wrong(
        "ignores the limit",
        edits=[(LARGE, LARGE.replace("limit", "1000.0"))],
        rung="job",
        check="test_limit",
        says="default limit",
    ),
    Wrong(
        "small is zero",
        edits=[(REST, '    return "zero" if norm < 1e-4 else "ok"\n')],
        rung="job",
        check="test_each_state",
        says="however small",
    ),
    Wrong(
        "zero where the sum is",
        edits=[(REST, '    return "zero" if p.grad.sum() == 0 else "ok"\n')],
        rung="job",
        check="test_sums_that_cancel",
        says="the sum of the numbers is 0",
    ),
    Wrong(
        "in the gradient's dtype",
        edits=norm("p.grad.detach().norm().double()"),
        check="test_extreme_numbers",
    ),
    Wrong(
        "NaN and inf left out of the norm",
        edits=[
            (NORM, NORM.replace("p.grad.detach()", "p.grad.detach().nan_to_num(float('inf'))")),
        ],
        check="test_nan_outweighs_inf",
    ),
    Wrong(
        "item for each parameter",
        edits=[
            (
                WAIT,
                "    for found in by_device.values():\n        norms.update({name: norm.item() for name, norm in found.items()})\n",
            )
        ],
        check="test_waits",
        says="one `tolist()`",
    ),
    Wrong(
        "all on the device of the first",
        edits=[
            (
                WAIT,
                "    names = [name for found in by_device.values() for name in found]\n    every = [norm for found in by_device.values() for norm in found.values()]\n    norms.update(zip(names, torch.stack(every).tolist() if every else []))\n",
            )
        ],
        check="test_two_devices",
    ),
    Wrong(
        "what requires no gradient is frozen, whatever it holds",
        edits=[(STATE, '    if not p.requires_grad:\n        return "frozen"\n' + STATE)],
        check="test_frozen_with_a_gradient",
        says="an optimizer would apply",
    ),
    Wrong(
        "cuts the gradients' graphs",
        edits=[(NORM, NORM.replace("p.grad.detach()", "p.grad.detach_()"))],
        check="test_nothing_changes",
        says="graph",
    ),
    Wrong(
        "clears the gradients",
        edits=[("    return [\n", "    model.zero_grad()\n    return [\n")],
        check="test_nothing_changes",
        says="is gone",
    ),
    Works(
        "a loop with norm() and item()",
        code="""
import math
from typing import NamedTuple

import torch
from torch import nn


class Gradient(NamedTuple):
    name: str
    norm: float | None
    state: str


def gradient_report(model, limit=1000.0):
    report = []
    for name, p in model.named_parameters():
        if not p.requires_grad:
            report.append(Gradient(name, None, "frozen"))
        elif p.grad is None:
            report.append(Gradient(name, None, "none"))
        else:
            norm = p.grad.norm().item()
            if math.isnan(norm) or math.isinf(norm):
                state = "nonfinite"
            elif norm > limit:
                state = "exploding"
            elif norm == 0:
                state = "zero"
            else:
                state = "ok"
            report.append(Gradient(name, norm, state))
    return report
""",
    ),
    Works(
        "norms of data, as in the step before, and questions to the gradient itself",
        code="""
from typing import NamedTuple

import torch
from torch import nn


class Gradient(NamedTuple):
    name: str
    norm: float | None
    state: str


def gradient_report(model, limit=1000.0):
    rows = []
    for name, param in model.named_parameters():
        grad = param.grad
        if grad is None:
            rows.append(Gradient(name, None, "none" if param.requires_grad else "frozen"))
            continue
        norm = grad.data.norm(2).item()
        state = "ok"
        if not torch.isfinite(grad).all():
            state = "nonfinite"
        elif norm > limit:
            state = "exploding"
        elif torch.count_nonzero(grad) == 0:
            state = "zero"
        rows.append(Gradient(name, norm, state))
    return rows
""",
    ),
    Right(
        "dicts of plain sums, flags brought over along with them",
        code="""
import collections
import math

import torch

Gradient = collections.namedtuple("Gradient", "name norm state")


def gradient_report(model, limit=1e3):
    parts = collections.defaultdict(list)
    for index, (name, p) in enumerate(model.named_parameters()):
        if p.grad is None:
            continue
        with torch.no_grad():
            g = p.grad.to(torch.float64)
            parts[p.grad.device].append((index, torch.stack([(g * g).sum(), (g == 0).all().double(), torch.isfinite(g).all().double()])))
    facts = {}
    for found in parts.values():
        table = torch.stack([row for _, row in found]).cpu()
        for (index, _), row in zip(found, table):
            facts[index] = row.tolist()
    report = []
    for index, (name, p) in enumerate(model.named_parameters()):
        if index not in facts:
            report.append(Gradient(name, None, ("frozen", "none")[p.requires_grad]))
            continue
        square, zero, finite = facts[index]
        norm = math.sqrt(square)
        state = "ok"
        if zero:
            state = "zero"
        if norm > limit:
            state = "exploding"
        if not finite:
            state = "nonfinite"
        report.append(Gradient(name=name, norm=norm, state=state))
    return report
""",
    ),
    Right(
        "takes all norms in one call, whatever devices they are on",
        code="""
import math
from typing import NamedTuple

import torch

class Gradient(NamedTuple):
    name: str
    norm: float | None
    state: str

def gradient_report(model, limit=1000.0):
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    norms = torch._foreach_norm([g.detach().double() for g in found.values()]) if found else []
    if norms:
        norms = torch.stack([n.to(norms[0].device) for n in norms]).tolist()
    norms = dict(zip(found, norms))
    report = []
    for name, p in model.named_parameters():
        norm = norms.get(name)
        if norm is None:
            state = "none" if p.requires_grad else "frozen"
        elif not math.isfinite(norm):
            state = "nonfinite"
        else:
            state = "exploding" if norm > limit else "ok" if norm else "zero"
        report.append(Gradient(name, norm, state))
    return report
""",
    ),
]
