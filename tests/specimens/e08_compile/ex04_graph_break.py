"""Answers to graph_break that people write."""

from grader.authoring.specimen import Right, Wrong

RMS = "    rms = update.detach().float().square().mean().sqrt()  # (): stays a tensor\n"
FACTOR = "    factor = torch.where(rms > limit, limit / rms, 1.0)  # (): both are computed, one is taken\n"
USABLE = "    usable = torch.where(rms.isfinite(), update, 0.0)  # (*shape): before the product, as 0 · NaN is NaN\n"
RETURN = "    return x + (usable.float() * factor).to(x.dtype), rms\n"
BODY = RMS + FACTOR + USABLE + RETURN


def instead(body):
    return [(BODY, body)]


def above(line, helper):
    """Put a helper function above bounded_residual, and `line` in place of the rms."""
    return [("\n\ndef bounded_residual(", helper + "\n\ndef bounded_residual("), (RMS, line)]


SPECIMENS = [
    Wrong(
        "clamps the factor: an update of zeros is scaled to a limit of 0, which its gradient shows",
        edits=[
            (
                FACTOR,
                "    safe = rms.nan_to_num(1.0, 1.0, 1.0).clamp(min=1e-30)\n"
                "    factor = (limit / safe).clamp(max=1.0)\n",
            )
        ],
        check="test_limit",
        says="an update of zeros",
    ),
    Wrong(
        "a least limit, though it may be 0",
        edits=[(FACTOR, FACTOR.replace("limit / rms", "max(limit, 1e-8) / rms"))],
        check="test_limit",
        says="zeros, update, limit=0",
    ),
    Wrong(
        "looks for NaN and inf, not for -inf",
        edits=[(USABLE, USABLE.replace("rms.isfinite()", "~(rms.isnan() | (update == torch.inf).any())"))],
        check="test_all_cases",
        says="signs turned",
    ),
    Wrong(
        "still prints",
        edits=[(FACTOR, '    print("rms of the update", rms)\n' + FACTOR)],
        check="test_one_graph_for_all_cases",
        says="print(",
    ),
    Wrong(
        "still asks for a number",  # which newer releases of PyTorch can capture
        edits=[("limit / rms, 1.0)", "limit / (rms.item() or 1.0), 1.0)")],
        check="test_on_a_device",
        says="host waits",
    ),
    Wrong(
        "torch.cond",
        edits=instead(
            RMS
            + """    def skipped(x, update, rms):
        return x + torch.zeros_like(update)

    def bounded(x, update, rms):
        factor = torch.where(rms > limit, limit / rms, torch.ones_like(rms))
        return x + (update * factor).to(update.dtype)

    return torch.cond(rms.isfinite(), bounded, skipped, (x, update, rms)), rms
"""
        ),
        check="test_on_a_device",
    ),
    Wrong(
        "only the last branch is left",
        edits=[(FACTOR, "    factor = limit / rms if rms > limit else torch.ones_like(rms)\n")],
        check="test_one_graph_for_all_cases",
        says="data-dependent",
    ),
    Wrong(
        "only the first branch is left",
        edits=[(FACTOR, "    if not rms.isfinite():\n        return x, rms\n" + FACTOR)],
        check="test_one_graph_for_all_cases",
        says="data-dependent",
    ),
    Wrong(
        "lets the compiler capture prints, by a setting",
        edits=[
            (FACTOR, '    print("rms of the update", rms)\n' + FACTOR),
            (
                "from torch import Tensor\n",
                "from torch import Tensor\n\nimport torch._dynamo\ntorch._dynamo.config.reorderable_logging_functions.add(print)\n",
            ),
        ],
        check="test_one_graph_for_all_cases",
    ),
    Wrong(
        "tells the compiler that the rms is a constant",
        edits=above(
            "    rms = torch.as_tensor(rms_of(update), device=x.device)\n",
            "\n\n@torch.compiler.assume_constant_result\ndef rms_of(update):\n    return update.detach().float().square().mean().sqrt().item()\n",
        ),
        check="test_compiled_numbers",
    ),
    Wrong(
        "keeps the rms out of the graph",
        edits=above(
            "    rms = rms_of(update)\n",
            "\n\n@torch.compiler.disable\ndef rms_of(update):\n    rms = update.detach().float().square().mean().sqrt()\n    return rms\n",
        ),
        check="test_one_graph_for_all_cases",
        says="one graph",
    ),
    Wrong(
        "bounds nothing when compiled",
        edits=[
            (
                FACTOR,
                FACTOR + "    if torch.compiler.is_compiling():\n        factor = torch.ones_like(rms)\n",
            )
        ],
        check="test_one_graph_for_all_cases",
        says="when compiled",
    ),
    Wrong(
        "prints where it is not compiled",
        edits=[
            (FACTOR, '    if not torch.compiler.is_compiling():\n        print(f"rms {rms:.3f}")\n' + FACTOR)
        ],
        check="test_nothing_is_printed",
    ),
    Wrong(
        "drops the branch: scales every update to the limit",
        edits=[("torch.where(rms > limit, limit / rms, 1.0)", "limit / rms")],
        check="test_all_cases",
    ),
    Wrong(
        "drops the branch: never scales",
        edits=[("torch.where(rms > limit, limit / rms, 1.0)", "torch.ones_like(rms)")],
        check="test_all_cases",
    ),
    Wrong(
        "drops the branch: lets inf and NaN in",
        edits=[("torch.where(rms.isfinite(), update, 0.0)", "update")],
        check="test_all_cases",
    ),
    Wrong(
        "skips numbers, not updates",
        edits=[("torch.where(rms.isfinite(), update, 0.0)", "torch.where(update.isfinite(), update, 0.0)")],
        check="test_all_cases",
    ),
    Wrong(
        "skips NaN, but not inf",
        edits=[("rms.isfinite()", "~rms.isnan()")],
        check="test_all_cases",
    ),
    Wrong(
        "nan_to_num instead of skipping",
        edits=[
            ("torch.where(rms.isfinite(), update, 0.0)", "update.nan_to_num(0.0, 0.0, 0.0)"),
            (RMS, RMS + "    rms = rms.nan_to_num(1.0, 1.0)\n"),
        ],
        check="test_all_cases",
    ),
    Wrong(
        "multiplies by 0 to skip",
        edits=[
            ("torch.where(rms.isfinite(), update, 0.0)", "update"),
            (FACTOR, FACTOR + "    factor = torch.where(rms.isfinite(), factor, 0.0)\n"),
        ],
        check="test_all_cases",
    ),
    Wrong(
        "chooses the result last: the gradient of the skipped side is NaN",
        edits=instead(
            RMS
            + """    factor = torch.clamp(limit / rms, max=1.0)
    factor = torch.where(rms == 0, 1.0, factor)
    bounded = x + (update.float() * factor).to(x.dtype)
    return torch.where(rms.isfinite(), bounded, x), rms
"""
        ),
        check="test_gradients_of_a_skipped_update",
    ),
    Wrong(
        "cuts the update where it skips",
        edits=[(RETURN, "    return x.detach() + (usable.float() * factor).to(x.dtype), rms\n")],
        check="test_gradients",
        says="x",
    ),
    Wrong(
        "lets gradients flow through the factor, which .item() had cut",
        edits=[("update.detach().float()", "update.float()"), ("x.dtype), rms", "x.dtype), rms.detach()")],
        check="test_gradients",
    ),
    Wrong(
        "returns the rms with its graph",
        edits=[
            ("update.detach().float()", "update.float()"),
            ("limit / rms, 1.0", "limit / rms.detach(), 1.0"),
        ],
        check="test_gradients",
        says="requires_grad of the rms",
    ),
    Wrong(
        "cuts the whole update",
        edits=[(RMS, "    update = update.detach()\n" + RMS)],
        check="test_gradients",
    ),
    Wrong(
        "clamps instead of choosing: 0 / 0 where limit and update are 0",
        edits=[
            (
                "torch.where(rms > limit, limit / rms, 1.0)",
                "torch.clamp(limit / rms, max=1.0).nan_to_num(1.0) if limit else limit / rms",
            )
        ],
        check="test_limit",
    ),
    Wrong(
        "ignores the limit", edits=[("rms > limit, limit / rms", "rms > 1.0, 1.0 / rms")], check="test_limit"
    ),
    Wrong(
        "a small number against division by zero",
        edits=[("limit / rms, 1.0", "limit / (rms + 1e-6), 1.0")],
        check="test_tiny_numbers",
    ),
    Wrong(
        "rms in the dtype of the update",
        edits=[("detach().float()", "detach()"), ("x.dtype), rms", "x.dtype), rms.float()")],
        check="test_narrow_dtypes",
    ),
    Wrong(
        "returns the rms in the dtype of the update",
        edits=[("x.dtype), rms", "x.dtype), rms.to(x.dtype)")],
        check="test_narrow_dtypes",
        says="rms",
    ),
    Wrong("returns float32", edits=[(".to(x.dtype), rms", ", rms")], check="test_narrow_dtypes"),
    Wrong(
        "a factor without dimensions promotes a stream without dimensions",
        edits=[(RETURN, "    return x + usable * factor, rms\n")],
        check="test_any_shape",
        says="bfloat16",
    ),
    Wrong(
        "an rms for each position",
        edits=[
            ("square().mean().sqrt()", "square().mean(-1, keepdim=True).sqrt()"),
            ("x.dtype), rms", "x.dtype), rms.square().mean().sqrt()"),
        ],
        check="test_all_cases",
    ),
    Wrong(
        "skips where the result is broken, be it by x",
        edits=[
            (
                "torch.where(rms.isfinite(), update, 0.0)",
                "torch.where((x + update).isfinite().all(), update, 0.0)",
            )
        ],
        check="test_all_cases",
    ),
    Wrong(
        "the norm instead of the rms",
        edits=[("square().mean().sqrt()", "square().sum().sqrt()")],
        check="test_all_cases",
    ),
    Wrong(
        "the rms of the result",
        edits=[("update.detach().float()", "(x + update).detach().float()")],
        check="test_all_cases",
    ),
    Wrong(
        "returns the rms after scaling",
        edits=[("x.dtype), rms", "x.dtype), rms * factor")],
        check="test_all_cases",
        says="rms",
    ),
    Wrong(
        "returns the rms as a number",
        edits=[("x.dtype), rms", "x.dtype), rms.item()")],
        check="test_all_cases",
    ),
    Wrong(
        "returns the rms on the CPU",
        edits=[("x.dtype), rms", "x.dtype), rms.cpu()")],
        check="test_on_a_device",
        says="host waits",
    ),
    Wrong(
        "makes its zeros on the CPU",
        edits=[("update, 0.0)", "update, torch.zeros(update.shape, dtype=update.dtype))")],
        check="test_on_a_device",
    ),
    Wrong(
        "adds in place",
        edits=[(RETURN, "    return x.add_((usable.float() * factor).to(x.dtype)), rms\n")],
        check="test_all_cases",
        says="changes its input x",
    ),
    Wrong(
        "scales in place",
        edits=[
            (USABLE, "    with torch.no_grad():\n        update.mul_(factor)\n" + USABLE),
            (RETURN, "    return x + usable, rms\n"),
        ],
        check="test_all_cases",
        says="changes its input update",
    ),
    Wrong(
        "expects three dimensions",
        edits=[("square().mean().sqrt()", "square().mean(dim=(0, 1, 2)).sqrt()")],
        check="test_any_shape",
    ),
    Wrong(
        "an empty update counts as small, with rms 0",
        edits=[("square().mean().sqrt()", "square().sum().div(max(update.numel(), 1)).sqrt()")],
        check="test_any_shape",
    ),
    Right(
        "a norm under no_grad, masked_fill, minimum",
        edits=instead("""
    with torch.no_grad():
        rms = torch.linalg.vector_norm(update, dtype=torch.float32) / update.numel() ** 0.5 if update.numel() else update.new_full((), float("nan"), dtype=torch.float32)
        factor = torch.full_like(rms, limit).div(rms).masked_fill(rms <= limit, 1).masked_fill(rms == 0, 1)
        factor = factor.nan_to_num(0)
    clean = update.masked_fill(~torch.isfinite(rms), 0)
    return torch.add(x, factor.to(x.dtype) * clean), rms
"""),
    ),
    Right(
        "the choice of the result last, where no factor is NaN",
        edits=[
            (USABLE, "    bounded = x + (update.float() * factor).to(x.dtype)\n"),
            (RETURN, "    return torch.where(rms.isfinite(), bounded, x), rms\n"),
        ],
    ),
    Right(
        "safe sides first, the choice of the result last",
        edits=instead("""
    squares = update.detach().to(torch.float32) ** 2
    rms = torch.sqrt(torch.mean(squares))
    fine = ~(torch.isinf(rms) | torch.isnan(rms))
    safe = torch.where(fine, update, torch.zeros_like(update))
    divisor = torch.where(fine, rms, torch.ones_like(rms)).clamp(min=limit)
    scale = torch.where(divisor == 0, torch.ones_like(divisor), limit / divisor)
    bounded = torch.addcmul(x.float(), safe.float(), scale).type_as(x)
    return torch.where(fine, bounded, x), rms
"""),
    ),
]
