"""Answers to clip_by_global_norm that people write."""

from grader.authoring.specimen import Right, Works, Wrong

NORMS = (
    "    norms = torch._foreach_norm(grads, 2, dtype=torch.float64 if exact else torch.float32)  # each ()\n"
)
NORM = "    norm = torch.linalg.vector_norm(torch.stack(norms))  # ()\n"
FACTOR = "    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)  # (), and NaN or 0 where the norm is not finite\n"
FILL = "    factor = factor.masked_fill(~norm.isfinite(), 1.0)  # decided on the device: nobody waits\n"
MUL = "    torch._foreach_mul_(grads, factor)\n"
GRADS = "    grads = [p.grad for p in params if p.grad is not None]\n"
CHECK = "    if not max_norm >= 0:  # written so that NaN is caught\n"
NONE = "    if not grads:\n        return torch.tensor(0.0)\n"

SPECIMENS = [
    Wrong(
        "clips each gradient by itself",
        edits=[
            (
                MUL,
                "    torch._foreach_mul_(grads, [(max_norm / (n + 1e-6)).clamp(max=1.0).masked_fill(~norm.isfinite(), 1.0) for n in norms])\n",
            )
        ],
        rung="job",
        check="test_around_the_bound",
        says="by its own norm",
    ),
    Wrong(
        "clips elements in place of the norm",
        edits=[
            (
                MUL,
                "    torch._foreach_clamp_max_(grads, max_norm)\n    torch._foreach_clamp_min_(grads, -max_norm)\n",
            )
        ],
        rung="job",
        check="test_around_the_bound",
        says="each number is clipped",
    ),
    Wrong("never clips", edits=[(MUL, "")], rung="job", check="test_around_the_bound"),
    Wrong(
        "stretches short gradients as well",
        edits=[(".clamp(max=1.0)", "")],
        rung="job",
        check="test_around_the_bound",
    ),
    Wrong(
        "adds up norms, not squares",
        edits=[(NORM, "    norm = torch.stack(norms).sum()\n")],
        rung="job",
        check="test_around_the_bound",
        says="norms are added up",
    ),
    Wrong(
        "the norm of the parameters",
        edits=[
            (NORMS, NORMS.replace("(grads,", "([p for p in held if p.grad is not None],")),
            (GRADS, "    held = list(params)\n" + GRADS.replace("in params", "in held")),
        ],
        rung="job",
        check="test_around_the_bound",
        says="of the parameters",
    ),
    Wrong(
        "returns the norm after the clipping",
        edits=[("    return norm\n", "    return torch.where(norm.isfinite(), norm * factor, norm)\n")],
        rung="job",
        check="test_around_the_bound",
        says="after clipping",
    ),
    Wrong(
        "gives zeros to those without a gradient",
        edits=[
            (
                GRADS,
                "    held = list(params)\n    for p in held:\n        if p.grad is None:\n            p.grad = torch.zeros_like(p)\n"
                + GRADS.replace("in params", "in held"),
            )
        ],
        rung="job",
        check="test_missing_gradients",
    ),
    Wrong(
        "reads a generator twice",
        edits=[
            (NONE, NONE + "    others = [p for p in params if p.grad is not None]\n"),
            (
                MUL,
                "    torch._foreach_mul_([p.grad for p in others] or grads[:0] or [torch.zeros(())], factor)\n",
            ),
        ],
        rung="job",
        check="test_missing_gradients",
    ),
    Wrong(
        "torch's own, and the gradients put back",
        edits=[
            (
                NORMS + NORM + FACTOR + FILL + MUL,
                """    wide = torch.float64 if exact else torch.float32
    total = torch.nn.utils.get_total_norm([g.to(wide) for g in grads])
    norm = total
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0).masked_fill(~norm.isfinite(), 1.0)
    torch._foreach_mul_(grads, factor)
""",
            )
        ],
        rung="job",
        check="test_own_computation",
    ),
    Wrong(
        "a smaller small number",
        edits=[(FACTOR, FACTOR.replace("1e-6", "1e-8"))],
        rung="fine",
        check="test_the_small_number",
    ),
    Wrong(
        "takes a bound of 0 for none",
        edits=[(FACTOR, "    if max_norm == 0:\n        return norm\n" + FACTOR)],
        rung="fine",
        check="test_extreme_bounds",
    ),
    Wrong("fails without gradients", edits=[(NONE, "")], rung="fine", check="test_no_gradients"),
    Wrong(
        "the norm in the gradients' dtype",
        edits=[(NORMS, "    norms = torch._foreach_norm(grads, 2)\n")],
        rung="fine",
        check="test_dtypes",
    ),
    Wrong(
        "views gradients as rows: breaks on transposed ones",
        edits=[(MUL, "    torch._foreach_mul_([g.view(-1) for g in grads], factor)\n")],
        rung="fine",
        check="test_in_place",
    ),
    Wrong(
        "makes new gradients",
        edits=[
            (GRADS, "    held = list(params)\n" + GRADS.replace("in params", "in held")),
            (
                MUL,
                "    for p in held:\n        if p.grad is not None:\n            p.grad = p.grad * factor.to(p.grad.dtype)\n",
            ),
        ],
        rung="fine",
        check="test_same_objects",
        says="another object",
    ),
    Wrong(
        "multiplies with the graph on",
        edits=[("@torch.no_grad()\n", ""), ("    return norm\n", "    return norm.detach()\n")],
        rung="fine",
        check="test_same_objects",
    ),
    Wrong("inf and NaN spread", edits=[(FILL, "")], rung="fine", check="test_not_finite"),
    Wrong(
        "no error for NaN",
        edits=[("not max_norm >= 0", "max_norm < 0")],
        rung="fine",
        check="test_bad_bounds",
    ),
    Wrong(
        "a loop over the gradients",
        edits=[(MUL, "    for g in grads:\n        g.mul_(factor)\n")],
        rung="fine",
        check="test_cost",
        says="grows",
    ),
    Wrong(
        "asks the device whether to clip",
        edits=[(MUL, "    if norm > max_norm:\n        torch._foreach_mul_(grads, factor)\n")],
        rung="fine",
        check="test_on_a_device",
        says="waits",
    ),
    Works(
        "as d2l.ai has it",
        code="""
import torch


def clip_by_global_norm(params, max_norm):
    params = [p for p in params if p.grad is not None]
    norm = torch.sqrt(sum(torch.sum((p.grad ** 2)) for p in params))
    if norm > max_norm:
        for param in params:
            param.grad[:] *= max_norm / norm
    return norm
""".replace("param.grad[:] *=", "param.grad *="),
    ),
    Works(
        "as PyTorch's own does it, parameter by parameter",
        code="""
import torch


def clip_by_global_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    total_norm = torch.norm(torch.stack([torch.norm(g.detach(), 2.0) for g in grads]), 2.0)
    clip_coef = max_norm / (total_norm + 1e-6)
    clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
    for g in grads:
        g.detach().mul_(clip_coef_clamped)
    return total_norm
""",
    ),
    Right(
        "a flat copy for the norm, where for the factor",
        edits=[
            (NORMS, "    wide = torch.float64 if exact else torch.float32\n"),
            (
                NORM,
                "    norms = torch._foreach_norm(grads, ord=2, dtype=wide)\n    norm = torch.stack(norms).square().sum().sqrt()\n",
            ),
            (
                FACTOR + FILL,
                "    ratio = max_norm / (norm + 1e-6)\n    factor = torch.where(torch.isfinite(norm) & (ratio < 1), ratio, torch.ones_like(norm))\n",
            ),
        ],
    ),
    Right(
        "without the decorator, on detached gradients",
        edits=[
            ("@torch.no_grad()\n", ""),
            (GRADS, "    grads = [p.grad.detach() for p in params if p.grad is not None]\n"),
            (FACTOR, "    factor = torch.minimum(torch.ones_like(norm), max_norm / (norm + 1e-6))\n"),
            (
                FILL,
                "    factor = torch.nan_to_num(factor, nan=1.0) + (norm == float('inf'))\n    factor = factor.clamp(max=1.0)\n",
            ),
        ],
    ),
]
