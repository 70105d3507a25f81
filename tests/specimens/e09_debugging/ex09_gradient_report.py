"""Answers to gradient_report that people write."""

from grader.authoring.specimen import Right, Wrong

COLLECT = """        if p.grad is not None:
            by_device.setdefault(p.grad.device, {})[name] = _norm(p.grad.detach())
"""
NORM = "    return torch.linalg.vector_norm(grad, dtype=torch.float64)  # squares of float32 fit, large and small\n"
COALESCE = "        grad = grad.to(torch.float64).coalesce().values()  # sums of float16 may not fit\n"
SPARSE = "    if grad.is_sparse:\n" + COALESCE
WAIT = """    for found in by_device.values():
        norms.update(zip(found, torch.stack(list(found.values())).tolist(), strict=True))  # one wait
"""
NONE = '        return "none" if p.requires_grad else "frozen"\n'
BAD = '    if not norm < float("inf"):\n        return "nonfinite"\n'
LARGE = '    if norm > limit:\n        return "exploding"\n'
REST = '    return "zero" if norm == 0 else "ok"\n'
STATE = "    if norm is None:\n"
ROWS = """    return [
        Gradient(name, norms.get(name), _state(p, norms.get(name), limit))
        for name, p in model.named_parameters()
    ]
"""

SPECIMENS = [
    Wrong(
        "adds sparse float16 up in float32, and sparse bfloat16 as it is",
        edits=[
            (
                COALESCE,
                "        grad = (grad.float() if grad.dtype == torch.float16 else grad).coalesce().values()\n",
            )
        ],
        check="test_sparse",
        says="bfloat16",
    ),
    Wrong(
        "norms that float32 cannot hold",
        edits=[
            (
                NORM,
                "    norm = torch.linalg.vector_norm(grad, dtype=torch.float64)\n    return norm if grad.dtype == torch.float64 else norm.float().double()\n",
            )
        ],
        check="test_extreme_numbers",
        says="inf",
    ),
    Wrong(
        "turns sparse gradients to float32",
        edits=[(".coalesce().values()", ".coalesce().values().float()")],
        check="test_sparse",
        says="float64",
    ),
    Wrong(
        "takes a limit of 0 for none",
        edits=[(LARGE, LARGE.replace("norm > limit", "limit and norm > limit"))],
        check="test_limit",
    ),
    Wrong(
        "rows device by device",
        edits=[
            (
                ROWS,
                ROWS.replace(
                    "in model.named_parameters()",
                    "in sorted(model.named_parameters(), key=lambda pair: str(pair[1].device))",
                ),
            )
        ],
        check="test_waits",
        says="two devices",
    ),
    Wrong(
        "takes a gradient of no numbers for none",
        edits=[(COLLECT, COLLECT.replace("is not None", "is not None and p.grad.numel()"))],
        check="test_each_state",
        says="p0",
    ),
    Wrong(
        "in the gradient's dtype",
        edits=[
            (NORM, "    return torch.linalg.vector_norm(grad)\n"),
            ("torch.stack(list(found.values()))", "torch.stack([n.double() for n in found.values()])"),
        ],
        check="test_norms",
    ),
    Wrong("in float32", edits=[(NORM, "    return grad.float().norm()\n")], check="test_extreme_numbers"),
    Wrong(
        "float32 for half dtypes, their own for the others",
        edits=[
            (NORM, "    return grad.to(torch.promote_types(grad.dtype, torch.float32)).norm().double()\n")
        ],
        check="test_extreme_numbers",
    ),
    Wrong("the square", edits=[(NORM, "    return grad.double().square().sum()\n")], check="test_each_state"),
    Wrong(
        "the largest number",
        edits=[(NORM, "    return torch.linalg.vector_norm(grad, ord=float('inf'), dtype=torch.float64)\n")],
        check="test_each_state",
    ),
    Wrong(
        "the root mean square",
        edits=[(NORM, "    return grad.double().square().mean().sqrt()\n")],
        check="test_each_state",
    ),
    Wrong(
        "the norm of the parameter",
        edits=[(COLLECT, COLLECT.replace("_norm(p.grad.detach())", "_norm(p.detach())"))],
        check="test_each_state",
    ),
    Wrong(
        "norms along the last dimension",
        edits=[
            (NORM, "    return grad.double().norm(dim=-1).max() if grad.dim() else grad.double().abs()\n")
        ],
        check="test_norms",
    ),
    Wrong(
        "matrix norms",
        edits=[(NORM, "    return torch.linalg.norm(grad.double(), ord=2 if grad.dim() == 2 else None)\n")],
        check="test_norms",
    ),
    Wrong(
        "NaN and inf left out of the norm",
        edits=[(NORM, NORM.replace("(grad,", "(grad.nan_to_num(0.0, 0.0, 0.0),"))],
        check="test_each_state",
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
        says="waits",
    ),
    Wrong(
        "one wait for each layer",
        edits=[
            (
                COLLECT,
                COLLECT.replace(
                    "setdefault(p.grad.device,", "setdefault((p.grad.device, name.rpartition('.')[0]),"
                ),
            )
        ],
        check="test_waits",
        says="for each layer",
    ),
    Wrong(
        "one wait for each shape",
        edits=[
            (
                COLLECT,
                COLLECT.replace("setdefault(p.grad.device,", "setdefault((p.grad.device, p.grad.shape),"),
            )
        ],
        check="test_waits",
        says="each shape",
    ),
    Wrong(
        "asks each gradient whether it is finite",
        edits=[(BAD, '    if not p.grad.to_dense().isfinite().all():\n        return "nonfinite"\n')],
        check="test_waits",
        says="waits",
    ),
    Wrong(
        "all on the device of the first",
        edits=[
            (
                WAIT,
                "    names = [name for found in by_device.values() for name in found]\n    every = [norm for found in by_device.values() for norm in found.values()]\n    norms.update(zip(names, torch.stack(every).tolist() if every else []))\n",
            )
        ],
        check="test_waits",
    ),
    Wrong(
        "sparse gradients as they are listed",
        edits=[(COALESCE, "        grad = grad._values()\n")],
        check="test_sparse",
    ),
    Wrong(
        "adds up in the dtype of the gradient",
        edits=[(COALESCE, "        grad = grad.coalesce().values()\n")],
        check="test_sparse",
        says="40000",
    ),
    Wrong("no thought of sparse gradients", edits=[(SPARSE, "")], check="test_sparse"),
    Wrong(
        "coalesces in the parameter's place",
        edits=[
            (
                COLLECT,
                "        if p.grad is not None and p.grad.is_sparse:\n            p.grad = p.grad.coalesce()\n"
                + COLLECT,
            )
        ],
        check="test_sparse",
        says="is_coalesced",
    ),
    Wrong(
        "makes sparse gradients dense for good",
        edits=[
            (
                COLLECT,
                "        if p.grad is not None and p.grad.is_sparse:\n            p.grad = p.grad.to_dense()\n"
                + COLLECT,
            )
        ],
        check="test_sparse",
        says="is_sparse",
    ),
    Wrong(
        "no gradient is a gradient of 0",
        edits=[(ROWS, ROWS.replace("Gradient(name, norms.get(name)", "Gradient(name, norms.get(name, 0.0)"))],
        check="test_each_state",
    ),
    Wrong("no gradient is zero", edits=[(NONE, NONE.replace('"none"', '"zero"'))], check="test_each_state"),
    Wrong("frozen is none", edits=[(NONE, '        return "none"\n')], check="test_frozen"),
    Wrong(
        "what requires no gradient is frozen, whatever it holds",
        edits=[(STATE, '    if not p.requires_grad:\n        return "frozen"\n' + STATE)],
        check="test_frozen",
    ),
    Wrong(
        "what requires no gradient has no norm",
        edits=[(COLLECT, COLLECT.replace("is not None", "is not None and p.requires_grad"))],
        check="test_frozen",
    ),
    Wrong(
        "leaves frozen parameters out",
        edits=[
            (ROWS, ROWS.replace("named_parameters()\n", "named_parameters()\n        if p.requires_grad\n"))
        ],
        check="test_frozen",
    ),
    Wrong(
        "leaves parameters without a gradient out",
        edits=[
            (
                ROWS,
                ROWS.replace("named_parameters()\n", "named_parameters()\n        if p.grad is not None\n"),
            )
        ],
        check="test_each_state",
    ),
    Wrong(
        "every name of a shared parameter",
        edits=[(ROWS, ROWS.replace("named_parameters()", "named_parameters(remove_duplicate=False)"))],
        check="test_shared_and_unused",
    ),
    Wrong(
        "the worst first",
        edits=[
            (
                ROWS,
                ROWS.replace("return [", "return sorted([").replace(
                    "    ]\n", "    ], key=lambda row: -(row.norm or 0.0))\n"
                ),
            )
        ],
        check="test_each_state",
    ),
    Wrong(
        "the model's own parameters alone",
        edits=[(ROWS, ROWS.replace("named_parameters()", "named_parameters(recurse=False)"))],
        check="test_shared_and_unused",
    ),
    Wrong(
        "NaN alone is not finite",
        edits=[(BAD, '    if norm != norm:\n        return "nonfinite"\n')],
        check="test_nonfinite",
    ),
    Wrong(
        "inf alone is not finite",
        edits=[(BAD, '    if norm == float("inf"):\n        return "nonfinite"\n')],
        check="test_nonfinite",
    ),
    Wrong("inf explodes first", edits=[(BAD + LARGE, LARGE + BAD)], check="test_nonfinite"),
    Wrong(
        "a norm that is nan_to_num",
        edits=[
            (
                ROWS,
                ROWS.replace(
                    "Gradient(name, norms.get(name)",
                    "Gradient(name, None if norms.get(name) is None else float(torch.tensor(norms[name], dtype=torch.float64).nan_to_num())",
                ),
            )
        ],
        check="test_nonfinite",
    ),
    Wrong("at the limit is above it", edits=[(LARGE, LARGE.replace(">", ">="))], check="test_limit"),
    Wrong("ignores the limit", edits=[(LARGE, LARGE.replace("limit", "1000.0"))], check="test_limit"),
    Wrong("another default", edits=[("limit: float = 1000.0", "limit: float = 100.0")], check="test_limit"),
    Wrong(
        "the limit is for the largest number",
        edits=[(LARGE, '    if p.grad.abs().max() > limit:\n        return "exploding"\n')],
        check="test_limit",
        says="",
    ),
    Wrong(
        "small is zero",
        edits=[(REST, '    return "zero" if norm < 1e-8 else "ok"\n')],
        check="test_each_state",
    ),
    Wrong(
        "one zero is zero",
        edits=[(REST, '    return "zero" if (p.grad.to_dense() == 0).any() else "ok"\n')],
        check="test_each_state",
    ),
    Wrong(
        "zero where the sum is",
        edits=[(REST, '    return "zero" if p.grad.sum() == 0 else "ok"\n')],
        check="test_extreme_numbers",
    ),
    Wrong(
        "tensors for norms",
        edits=[(WAIT, "    for found in by_device.values():\n        norms.update(found)\n")],
        check="test_each_state",
        says="type",
    ),
    Wrong(
        "clips to learn the norm",
        edits=[
            (
                COLLECT,
                COLLECT.replace(
                    "_norm(p.grad.detach())", "torch.nn.utils.clip_grad_norm_([p], limit).double()"
                ),
            )
        ],
        check="test_nothing_changes",
        says="",
    ),
    Wrong(
        "cuts the gradients' graphs",
        edits=[(COLLECT, COLLECT.replace("p.grad.detach()", "p.grad.detach_()"))],
        check="test_nothing_changes",
        says="graph",
    ),
    Wrong(
        "clears the gradients",
        edits=[("    return [\n", "    model.zero_grad()\n    return [\n")],
        check="test_nothing_changes",
    ),
    Wrong(
        "puts copies in the gradients' place",
        edits=[(COLLECT, COLLECT + "            p.grad = p.grad.clone()\n")],
        check="test_nothing_changes",
        says="another tensor",
    ),
    Wrong(
        "in training mode",
        edits=[("    return [\n", "    model.train()\n    return [\n")],
        check="test_nothing_changes",
        says="modes",
    ),
    Right(
        "scaled by the largest number, in float32",
        edits=[
            (SPARSE, "    grad = grad.double().to_dense() if grad.is_sparse else grad\n"),
            (
                NORM,
                """    if grad.dtype != torch.float64:
        grad = grad.float()
    largest = grad.abs().max() if grad.numel() else grad.sum()
    scaled = (grad / 2.0**60 / (largest / 2.0**60)) if grad.dtype == torch.float64 else grad.double() / largest.double()
    norm = largest.double() * scaled.norm()
    return torch.where((largest == 0) | (largest == float("inf")), largest.double(), norm)
""",
            ),
        ],
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
            g = g.to_dense() if g.layout is not torch.strided else g
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
        "all gradients of a device in one vector, brought over at once, and read on the host",
        code="""
import math
from typing import NamedTuple

import torch

class Gradient(NamedTuple):
    name: str
    norm: float | None
    state: str

def state_of(norm, limit):
    if not math.isfinite(norm):
        return "nonfinite"
    return "exploding" if norm > limit else "ok" if norm else "zero"

def dense(grad):
    if not grad.is_sparse:
        return grad.double()
    out = torch.zeros(grad.shape, dtype=torch.float64, device=grad.device)
    return out.index_put((*grad._indices(),), grad._values().double(), accumulate=True)

def gradient_report(model, limit=1000.0):
    flat, norms = {}, {}
    for name, p in model.named_parameters():
        if p.grad is not None:
            flat.setdefault(p.grad.device, {})[name] = dense(p.grad.detach()).reshape(-1)
    for vectors in flat.values():
        host = torch.cat(list(vectors.values())).cpu()
        for name, part in zip(vectors, host.split([len(v) for v in vectors.values()])):
            top = float(part.abs().max()) if len(part) else 0.0
            norms[name] = top if not math.isfinite(top) or top == 0 else top * float((part / top).norm())
    report = []
    for name, p in model.named_parameters():
        norm = norms.get(name)
        state = ("none" if p.requires_grad else "frozen") if norm is None else state_of(norm, limit)
        report.append(Gradient(name, norm, state))
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
    wide = [g.detach().double() for g in found.values()]
    flat = [g.coalesce().values() if g.is_sparse else g for g in wide]
    norms = torch._foreach_norm(flat) if flat else []
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
