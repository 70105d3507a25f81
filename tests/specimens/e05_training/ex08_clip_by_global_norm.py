"""Answers to clip_by_global_norm that people write."""

from grader.authoring.specimen import Right, Wrong

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
        "rounds the factor to each gradient's dtype",
        edits=[(MUL, "    torch._foreach_mul_(grads, [factor.to(g.dtype) for g in grads])\n")],
        check="test_dtypes",
    ),
    Wrong(
        "clips each gradient by itself",
        edits=[
            (
                MUL,
                "    torch._foreach_mul_(grads, [(max_norm / (n + 1e-6)).clamp(max=1.0).masked_fill(~norm.isfinite(), 1.0) for n in norms])\n",
            )
        ],
        check="test_around_the_bound",
    ),
    Wrong(
        "clips elements in place of the norm",
        edits=[
            (
                MUL,
                "    torch._foreach_clamp_max_(grads, max_norm)\n    torch._foreach_clamp_min_(grads, -max_norm)\n",
            )
        ],
        check="test_around_the_bound",
    ),
    Wrong("never clips", edits=[(MUL, "")], check="test_around_the_bound"),
    Wrong(
        "stretches short gradients as well",
        edits=[(".clamp(max=1.0)", "")],
        check="test_around_the_bound",
    ),
    Wrong(
        "adds up norms, not squares",
        edits=[(NORM, "    norm = torch.stack(norms).sum()\n")],
        check="test_around_the_bound",
    ),
    Wrong(
        "the largest norm",
        edits=[(NORM, "    norm = torch.stack(norms).max()\n")],
        check="test_around_the_bound",
    ),
    Wrong(
        "no small number in the factor",
        edits=[(FACTOR, FACTOR.replace(" + 1e-6", ""))],
        check="test_around_the_bound",
    ),
    Wrong(
        "a smaller small number",
        edits=[(FACTOR, FACTOR.replace("1e-6", "1e-8"))],
        check="test_around_the_bound",
    ),
    Wrong(
        "the squared norm",
        edits=[(NORM, "    norm = torch.stack(norms).square().sum()\n")],
        check="test_around_the_bound",
    ),
    Wrong(
        "the norm of the parameters",
        edits=[
            (NORMS, NORMS.replace("(grads,", "([p for p in held if p.grad is not None],")),
            (GRADS, "    held = list(params)\n" + GRADS.replace("in params", "in held")),
        ],
        check="test_around_the_bound",
    ),
    Wrong(
        "returns the norm after the clipping",
        edits=[("    return norm\n", "    return torch.where(norm.isfinite(), norm * factor, norm)\n")],
        check="test_around_the_bound",
    ),
    Wrong(
        "only where the norm is clearly above the bound",
        edits=[(FILL, FILL.replace("~norm.isfinite()", "~norm.isfinite() | (norm <= max_norm)"))],
        check="test_around_the_bound",
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
        check="test_own_computation",
    ),
    Wrong(
        "0 where all are clipped to 0 divides",
        edits=[(FACTOR, "    factor = 1 / (norm / max_norm + 1e-6 / max_norm).clamp(min=1.0)\n")],
        check="test_extreme_bounds",
    ),
    Wrong(
        "takes a bound of 0 for none",
        edits=[(FACTOR, "    if max_norm == 0:\n        return norm\n" + FACTOR)],
        check="test_extreme_bounds",
    ),
    Wrong(
        "refuses a bound of 0", edits=[("not max_norm >= 0", "not max_norm > 0")], check="test_extreme_bounds"
    ),
    Wrong(
        "refuses a bound of inf",
        edits=[("not max_norm >= 0", "not 0 <= max_norm < float('inf')")],
        check="test_extreme_bounds",
    ),
    Wrong("no error for NaN", edits=[("not max_norm >= 0", "max_norm < 0")], check="test_bad_bounds"),
    Wrong(
        "looks at the bound after the gradients",
        edits=[
            (CHECK + '        raise ValueError(f"max_norm must be 0 or above, got {max_norm}")\n', ""),
            (MUL, MUL + CHECK + "        raise ValueError(max_norm)\n"),
        ],
        check="test_bad_bounds",
    ),
    Wrong(
        "no error where there is nothing to clip",
        edits=[
            (CHECK + '        raise ValueError(f"max_norm must be 0 or above, got {max_norm}")\n', ""),
            (NONE, NONE + CHECK + "        raise ValueError(max_norm)\n"),
        ],
        check="test_bad_bounds",
    ),
    Wrong("inf and NaN spread", edits=[(FILL, "")], check="test_not_finite"),
    Wrong(
        "clears everything where the norm is not finite",
        edits=[
            (
                MUL,
                "    if not norm.isfinite():\n        torch._foreach_zero_(grads)\n        return norm\n"
                + MUL,
            )
        ],
        check="test_not_finite",
    ),
    Wrong(
        "looks for inf, not for NaN",
        edits=[("~norm.isfinite()", "norm.isinf()")],
        check="test_not_finite",
    ),
    Wrong(
        "repairs the gradients",
        edits=[(NORMS, "    for g in grads:\n        g.nan_to_num_(0.0)\n" + NORMS)],
        check="test_not_finite",
    ),
    Wrong(
        "raises where the norm is not finite",
        edits=[(FACTOR, "    if not norm.isfinite():\n        raise RuntimeError('diverged')\n" + FACTOR)],
        check="test_not_finite",
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
        check="test_around_the_bound",
        says="another object",
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
        check="test_missing_gradients",
    ),
    Wrong("fails without gradients", edits=[(NONE, "")], check="test_missing_gradients"),
    Wrong(
        "an int where there are no gradients",
        edits=[("return torch.tensor(0.0)", "return 0.0")],
        check="test_missing_gradients",
    ),
    Wrong(
        "float64 where there are no gradients",
        edits=[("torch.tensor(0.0)", "torch.tensor(0.0, dtype=torch.float64)")],
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
        check="test_generator",
    ),
    Wrong(
        "the norm in the gradients' dtype",
        edits=[(NORMS, "    norms = torch._foreach_norm(grads, 2)\n")],
        check="test_dtypes",
    ),
    Wrong(
        "squares in half precision",
        edits=[
            (
                NORMS + NORM,
                "    squares = [s.sum().to(torch.float64 if exact else torch.float32) for s in torch._foreach_mul(grads, grads)]\n    norm = torch.stack(squares).sum().sqrt()\n",
            )
        ],
        check="test_dtypes",
    ),
    Wrong(
        "always float32",
        edits=[("torch.float64 if exact else torch.float32", "torch.float32")],
        check="test_around_the_bound",
    ),
    Wrong(
        "always float64",
        edits=[("torch.float64 if exact else torch.float32", "torch.float64")],
        check="test_dtypes",
    ),
    Wrong(
        "the dtype of the first gradient",
        edits=[("any(g.dtype == torch.float64 for g in grads)", "grads[0].dtype == torch.float64")],
        check="test_mixed_dtypes",
    ),
    Wrong(
        "the dtype of the last gradient",
        edits=[("any(g.dtype == torch.float64 for g in grads)", "grads[-1].dtype == torch.float64")],
        check="test_mixed_dtypes",
    ),
    Wrong(
        "works on a flat copy",
        edits=[
            (
                NORMS + NORM,
                "    flat = torch.cat([g.reshape(-1).to(torch.float64 if exact else torch.float32) for g in grads])\n    norm = flat.norm()\n",
            ),
            (MUL, "    flat *= factor\n"),
        ],
        check="test_around_the_bound",
    ),
    Wrong(
        "views gradients as rows: breaks on transposed ones",
        edits=[(MUL, "    torch._foreach_mul_([g.view(-1) for g in grads], factor)\n")],
        check="test_in_place",
    ),
    Wrong(
        "scales whole buffers",
        edits=[
            (
                MUL,
                "    torch._foreach_mul_([g.new_empty(0).set_(g.untyped_storage()) for g in grads], factor)\n",
            )
        ],
        check="test_in_place",
    ),
    Wrong(
        "returns a view of the single gradient",
        edits=[
            (
                NORM,
                "    norm = torch.linalg.vector_norm(torch.stack(norms))\n    if len(grads) == 1 and grads[0].dim() == 0:\n        norm = grads[0].abs_()\n",
            )
        ],
        check="test_in_place",
    ),
    Wrong(
        "records a graph",
        edits=[
            ("@torch.no_grad()\n", ""),
            (MUL, "    with torch.no_grad():\n        torch._foreach_mul_(grads, factor)\n"),
        ],
        check="test_no_graph",
    ),
    Wrong(
        "multiplies with the graph on",
        edits=[("@torch.no_grad()\n", ""), ("    return norm\n", "    return norm.detach()\n")],
        check="test_no_graph",
    ),
    Wrong(
        "switches gradients off for good",
        edits=[("@torch.no_grad()\n", ""), (GRADS, "    torch.set_grad_enabled(False)\n" + GRADS)],
        check="test_no_graph",
    ),
    Wrong(
        "a loop over the gradients",
        edits=[(MUL, "    for g in grads:\n        g.mul_(factor)\n")],
        check="test_cost",
        says="grows",
    ),
    Wrong(
        "a norm for each gradient",
        edits=[
            (
                NORMS,
                "    norms = [torch.linalg.vector_norm(g, dtype=torch.float64 if exact else torch.float32) for g in grads]\n",
            )
        ],
        check="test_cost",
        says="grows",
    ),
    Wrong(
        "asks the device whether to clip",
        edits=[(MUL, "    if norm > max_norm:\n        torch._foreach_mul_(grads, factor)\n")],
        check="test_on_a_device",
        says="waits",
    ),
    Wrong(
        "the factor as a Python number",
        edits=[(MUL, "    torch._foreach_mul_(grads, factor.item())\n")],
        check="test_on_a_device",
        says="waits",
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
        "views of one flat copy, there and back",
        edits=[
            (
                NORMS,
                """    wide = torch.float64 if exact else torch.float32
    flat = torch.empty(sum(g.numel() for g in grads), dtype=wide, device=grads[0].device)
    parts, start = [], 0
    for g in grads:
        parts.append(flat[start : start + g.numel()].view(g.shape))
        start += g.numel()
    torch._foreach_copy_(parts, grads)
""",
            ),
            (NORM, "    norm = flat.square().sum().sqrt()\n"),
            (MUL, "    flat.mul_(factor)\n    torch._foreach_copy_(grads, parts)\n"),
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
    Wrong(
        "leaves frozen parameters out",
        edits=[(GRADS, GRADS.replace("is not None]", "is not None and p.requires_grad]"))],
        check="test_missing_gradients",
    ),
    Wrong(
        "the parameters decide the dtype",
        edits=[
            (
                GRADS,
                "    params = list(params)\n    grads = [p.grad for p in params if p.grad is not None]\n",
            ),
            ("any(g.dtype == torch.float64 for g in grads)", "any(p.dtype == torch.float64 for p in params)"),
        ],
        check="test_missing_gradients",
        says="a float64 parameter has none",
    ),
    Wrong(
        "empty gradients are left out",
        edits=[
            (GRADS, "    grads = [p.grad for p in params if p.grad is not None and p.grad.numel() > 0]\n")
        ],
        check="test_missing_gradients",
    ),
    Wrong(
        "multiplies one by one where dtypes differ",
        edits=[
            (
                MUL,
                """    if len({g.dtype for g in grads}) == 1:
        torch._foreach_mul_(grads, factor)
    else:
        for grad in grads:
            grad.mul_(factor)
""",
            )
        ],
        check="test_cost",
        says="torch.float32 and torch.bfloat16",
    ),
    Wrong(
        "where there is no gradient, the parameters say what dtype the norm has",
        edits=[
            (GRADS, "    params = list(params)\n" + GRADS),
            (
                NONE,
                "    if not grads:\n"
                "        exact = any(p.dtype == torch.float64 for p in params)\n"
                "        return torch.zeros((), dtype=torch.float64 if exact else torch.float32)\n",
            ),
        ],
        check="test_missing_gradients",
        says="without gradients",
    ),
    Right(
        "a norm of the default dtype where there is no gradient",
        edits=[(NONE, NONE.replace("torch.tensor(0.0)", "torch.zeros(())"))],
    ),
    Wrong(
        "asks float32 whether the norm is finite, also in float64",
        edits=[(FILL, FILL.replace("norm.isfinite()", "norm.float().isfinite()"))],
        check="test_around_the_bound",
    ),
]
