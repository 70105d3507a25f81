"""Answers to graph_break that people write."""

from grader.authoring.specimen import Right, Works, Wrong

RMS = "    rms = update.detach().float().square().mean().sqrt()  # (): stays a tensor\n"
FACTOR = "    factor = torch.where(rms > limit, limit / rms, 1.0)  # (): both are computed, one is taken\n"
USABLE = "    usable = torch.where(rms.isfinite(), update, 0.0)  # (*shape): before the product, as 0 · NaN is NaN\n"
RETURN = "    return x + usable * factor, rms\n"
BODY = RMS + FACTOR + USABLE + RETURN


def instead(body):
    return [(BODY, body)]


SPECIMENS = [
    Wrong(
        "only the last branch is left",
        edits=[(FACTOR, "    factor = limit / rms if rms > limit else torch.ones_like(rms)\n")],
        check="test_one_graph_for_all_cases",
        says="if rms > limit",
        rung="job",
    ),
    Wrong(
        "keeps the rms out of the graph",
        edits=[
            (
                "\n\ndef bounded_residual(",
                "\n\n@torch.compiler.disable\ndef rms_of(update):\n"
                "    return update.detach().float().square().mean().sqrt()\n\n\ndef bounded_residual(",
            ),
            (RMS, "    rms = rms_of(update)\n"),
        ],
        check="test_one_graph_for_all_cases",
        says="one graph",
        rung="job",
    ),
    Wrong(
        "drops the branch: scales every update to the limit",
        edits=[("torch.where(rms > limit, limit / rms, 1.0)", "limit / rms")],
        check="test_all_cases",
        says="small ones as well",
        rung="job",
    ),
    Wrong(
        "drops the branch: never scales",
        edits=[("torch.where(rms > limit, limit / rms, 1.0)", "torch.ones_like(rms)")],
        check="test_all_cases",
        says="added as it is",
        rung="job",
    ),
    Wrong(
        "skips numbers, not updates",
        edits=instead(
            RMS
            + FACTOR
            + "    usable = torch.where(update.isfinite(), update, 0.0)\n"
            + "    return x + usable * torch.where(rms.isfinite(), factor, 1.0), rms\n"
        ),
        check="test_all_cases",
        says="not the whole update",
        rung="job",
    ),
    Wrong(
        "multiplies by 0 to skip",
        edits=[
            (USABLE, "    factor = torch.where(rms.isfinite(), factor, 0.0)\n"),
            (RETURN, RETURN.replace("usable", "update")),
        ],
        check="test_all_cases",
        says="NaN",
        rung="job",
    ),
    Wrong(
        "skips NaN, but not inf",
        edits=[("rms.isfinite()", "~rms.isnan()")],
        check="test_all_cases",
        rung="job",
    ),
    Wrong(
        "the norm instead of the rms",
        edits=[("square().mean().sqrt()", "square().sum().sqrt()")],
        check="test_all_cases",
        says="norm",
        rung="job",
    ),
    Wrong(
        "ignores the limit",
        edits=[("rms > limit, limit / rms", "rms > 1.0, 1.0 / rms")],
        check="test_limit",
        rung="job",
    ),
    Wrong(
        "detaches the update, not only the rms",
        edits=[(RMS, "    update = update.detach()\n" + RMS)],
        check="test_gradients",
        says="all zeros",
        rung="job",
    ),
    Wrong(
        "asks for a number, which newer releases of PyTorch capture",
        edits=[(RMS, RMS + "    torch._check(rms.item() >= 0)\n")],
        check="test_on_a_device",
        says="host waits",
    ),
    Wrong(
        "lets gradients flow through the factor, which .item() had cut",
        edits=[("update.detach().float()", "update.float()"), ("factor, rms", "factor, rms.detach()")],
        check="test_the_factor_is_a_constant",
        says="detach it",
    ),
    Wrong(
        "returns the rms with its graph",
        edits=[
            ("update.detach().float()", "update.float()"),
            ("limit / rms, 1.0", "limit / rms.detach(), 1.0"),
        ],
        check="test_rms_has_no_graph",
    ),
    Wrong(
        "chooses the result last: the gradient of the side that is not taken is NaN",
        edits=instead(
            RMS
            + """    factor = torch.clamp(limit / rms, max=1.0)
    return torch.where(rms.isfinite(), x + update * factor, x), rms
"""
        ),
        check="test_gradients_of_a_skipped_update",
        says="NaN",
    ),
    Wrong(
        "rms in the dtype of the update",
        edits=[("detach().float()", "detach()"), ("factor, rms", "factor, rms.float()")],
        check="test_half_precision",
    ),
    Wrong(
        "adds in place",
        edits=[(RETURN, "    return x.add_(usable * factor), rms\n")],
        check="test_inputs_stay",
        says="changes its input x",
    ),
    Works(
        "two wheres, and no thought of gradients",
        code="""
import torch


def bounded_residual(x, update, limit=1.0):
    rms = update.float().square().mean().sqrt()
    scale = torch.where(rms > limit, limit / rms, torch.ones_like(rms))
    return torch.where(torch.isfinite(rms), x + update * scale, x), rms
""",
    ),
    Works(
        "a clamped factor, as clip_grad_norm_ has it",
        code="""
import torch


def bounded_residual(x, update, limit=1.0):
    rms = update.pow(2).mean().sqrt()
    coef = torch.clamp(limit / (rms + 1e-6), max=1.0)
    finite = torch.isfinite(rms)
    update = torch.where(finite, update, torch.zeros_like(update))
    coef = torch.where(finite, coef, torch.zeros_like(coef))
    return x + update * coef, rms
""",
    ),
    Works(
        "torch.cond, as the documentation of torch.compile suggests",
        code="""
import torch


def bounded_residual(x, update, limit=1.0):
    rms = update.detach().float().square().mean().sqrt()

    def add(x, update, rms):
        return x + update * torch.clamp(limit / rms, max=1.0)

    def skip(x, update, rms):
        return x.clone()

    return torch.cond(torch.isfinite(rms), add, skip, (x, update, rms)), rms
""",
    ),
    Right(
        "a norm under no_grad, masked_fill",
        edits=instead("""
    with torch.no_grad():
        rms = torch.linalg.vector_norm(update, dtype=torch.float32) / update.numel() ** 0.5
        factor = torch.full_like(rms, limit).div(rms).masked_fill(rms <= limit, 1).nan_to_num(0)
    clean = update.masked_fill(~torch.isfinite(rms), 0)
    return torch.add(x, factor * clean), rms
"""),
    ),
    Right(
        "safe sides first, the choice of the result last",
        edits=instead("""
    rms = torch.sqrt(torch.mean(update.detach().to(torch.float32) ** 2))
    fine = ~(torch.isinf(rms) | torch.isnan(rms))
    safe = torch.where(fine, update, torch.zeros_like(update))
    scale = limit / torch.where(fine, rms, torch.ones_like(rms)).clamp(min=limit)
    bounded = torch.addcmul(x.float(), safe.float(), scale).type_as(x)
    return torch.where(fine, bounded, x), rms
"""),
    ),
]
