"""Answers to stable_softmax that people write."""

from grader.authoring.specimen import Right, Wrong

HALF = "exact = x if x.dtype == torch.float64 else x.float()  # half would round at each step"
PEAK = "peak = exact.detach().amax(dim, keepdim=True)  # the shift cancels: it needs no gradient"
NO_PEAK = "    peak = peak.masked_fill(peak == -math.inf, 0)  # -inf - -inf is NaN\n"
NO_TOTAL = (
    "    total = total.masked_fill(total == 0, 1)  # a slice of -inf: 0 / 1, for the value and the gradient\n"
)
SOFTMAX = "return (powers / total).to(x.dtype)  # (*shape)"

SPECIMENS = [
    Wrong(
        "does not shift below -1e4: slices further down vanish",
        edits=[("peak.masked_fill(peak == -math.inf, 0)", "peak.clamp(min=-1e4)")],
        check="test_large_logits",
    ),
    Wrong(
        "by the book, without a shift",
        edits=[(PEAK, "peak = torch.zeros_like(exact.detach().amax(dim, keepdim=True))")],
        check="test_large_logits",
        says="nan",
    ),
    Wrong(
        "shifts the whole batch by one number",
        edits=[(PEAK, "peak = exact.detach().max().expand_as(exact.detach().amax(dim, keepdim=True))")],
        check="test_each_slice_has_its_own_height",
    ),
    Wrong(
        "squeezes every dimension of size 1 out of the shift",
        edits=[("peak.squeeze(dim)", "peak.squeeze()")],
        check="test_along_every_dim",
    ),
    Wrong(
        "one number for the batch, which an empty batch has not",
        code="""
def softmax(x, dim):
    powers = (x - x.max()).exp()
    return powers / powers.sum(dim, keepdim=True)

def logsumexp(x, dim):
    return (x - x.max()).exp().sum(dim).log() + x.max()
""",
        check="test_empty_batch",
    ),
    Wrong(
        "-inf minus -inf",
        edits=[(NO_PEAK, "")],
        check="test_masked_logits",
        says="is NaN in a slice of -inf alone",
    ),
    Wrong(
        "0 / 0",
        edits=[(NO_TOTAL, "")],
        check="test_masked_logits",
        says="is NaN in a slice of -inf alone",
    ),
    Wrong(
        "clamps -inf to the lowest number: a masked slice becomes uniform",
        edits=[
            (HALF, "exact = x.float().clamp(min=-1e9) if x.dtype != torch.float64 else x.clamp(min=-1e9)")
        ],
        check="test_masked_logits",
        says="a finite number stands for -inf",
    ),
    Wrong(
        "softmax from the rounded logsumexp",
        edits=[(SOFTMAX, "return (x - logsumexp(x, dim).unsqueeze(dim)).exp().nan_to_num(0.0)")],
        check="test_large_logits",
    ),
    Wrong(
        "a small number in the denominator",
        edits=[(SOFTMAX, "return (powers / (powers.sum(dim, keepdim=True) + 1e-9)).to(x.dtype)")],
        check="test_float64_stays_exact",
    ),
    Wrong(
        "half precision all the way",
        edits=[(HALF, "exact = x")],
        check="test_half_precision_rounds_once",
    ),
    Wrong(
        "rounds twice: the logarithm, then the sum with the peak",
        edits=[
            (
                "return result.masked_fill(empty, -math.inf).to(x.dtype)",
                "log = total.masked_fill(empty, 1).log().to(x.dtype)\n    return (log + peak.squeeze(dim).to(x.dtype)).masked_fill(empty, -math.inf)",
            )
        ],
        check="test_half_precision_rounds_once",
    ),
    Wrong(
        "float32 for everybody",
        edits=[(HALF, "exact = x.float()")],
        check="test_float64_stays_exact",
    ),
    Wrong(
        "forgets to round back",
        edits=[(SOFTMAX, "return powers / total")],
        check="test_half_precision_rounds_once",
        says="float32",
    ),
    Wrong(
        "the sum without keepdim",
        edits=[("total = powers.sum(dim, keepdim=True)", "total = powers.sum(dim)")],
        check="test_along_every_dim",
    ),
    Wrong(
        "always the last dim",
        edits=[
            (
                "    powers, _ = _shifted_exp(x, dim)\n    total = powers.sum(dim, keepdim=True)",
                "    powers, _ = _shifted_exp(x, -1)\n    total = powers.sum(-1, keepdim=True)",
            )
        ],
        check="test_along_every_dim",
    ),
    Wrong(
        "logsumexp that keeps the dim",
        edits=[
            ("total = powers.sum(dim)  # (*reduced)", "total = powers.sum(dim, keepdim=True)"),
            ("peak.squeeze(dim)", "peak"),
        ],
        check="test_along_every_dim",
        says="keepdim",
    ),
    Wrong(
        "adds the peak before the logarithm",
        edits=[
            (
                "total.masked_fill(empty, 1).log() + peak.squeeze(dim)",
                "(total.masked_fill(empty, 1) + peak.squeeze(dim)).log()",
            )
        ],
        check="test_along_every_dim",
    ),
    Wrong(
        "the right values, with NaN in the gradient: log(0) is filled in afterwards",
        edits=[("total.masked_fill(empty, 1).log()", "total.log()")],
        check="test_gradient_of_a_masked_slice",
        says="nan",
    ),
    Wrong(
        "detaches the total",
        edits=[("total = powers.sum(dim, keepdim=True)", "total = powers.detach().sum(dim, keepdim=True)")],
        check="test_gradients",
    ),
    Wrong(
        "shifts the caller's logits in place",
        edits=[
            (
                "return (exact - peak).exp(), peak",
                "return (exact.detach().sub_(peak).exp() if not x.requires_grad else (exact - peak).exp()), peak",
            )
        ],
        check="test_logits_are_left_alone",
        says="changes its input x",
    ),
    Wrong(
        "log_softmax does the work",
        edits=[(SOFTMAX, "return torch.nn.functional.log_softmax(x, dim).exp().nan_to_num(0.0)")],
        check="test_own_computation",
        says="log_softmax",
    ),
    Wrong(
        "Tensor.logsumexp does the work",
        edits=[
            (
                "    powers, peak = _shifted_exp(x, dim)",
                "    return x.logsumexp(dim)\n    powers, peak = _shifted_exp(x, dim)",
            )
        ],
        check="test_own_computation",
        says="logsumexp",
    ),
    Wrong(
        "zeros made on the CPU",
        edits=[(NO_PEAK, "    peak = torch.where(peak == -math.inf, torch.zeros(peak.shape), peak)\n")],
        check="test_stays_on_the_device",
    ),
    Wrong(
        "looks at the values to decide",
        edits=[
            (
                NO_PEAK,
                "    if (peak == -math.inf).any():\n        peak = peak.masked_fill(peak == -math.inf, 0)\n",
            )
        ],
        check="test_stays_on_the_device",
        says="copies between host and device",
    ),
    Wrong(
        "ones for slices of one logit, which may be -inf",
        edits=[
            (
                "    powers, _ = _shifted_exp(x, dim)\n",
                "    if x.shape[dim] == 1:\n        return torch.ones_like(x)\n    powers, _ = _shifted_exp(x, dim)\n",
            )
        ],
        check="test_masked_logits",
        says="slices of one logit",
    ),
    Wrong(
        "an empty result of its own, in float32",
        edits=[
            (
                "    powers, peak = _shifted_exp(x, dim)\n",
                "    if x.numel() == 0:\n        return torch.empty(x.shape).sum(dim)\n    powers, peak = _shifted_exp(x, dim)\n",
            )
        ],
        check="test_empty_batch",
        says="float64",
    ),
    Wrong(
        "shifts in place what was not copied: float64",
        edits=[
            (
                "    return (exact - peak).exp(), peak",
                "    if exact.dtype == torch.float64 and not x.requires_grad:\n"
                "        return exact.sub_(peak).exp(), peak\n"
                "    return (exact - peak).exp(), peak",
            )
        ],
        check="test_logits_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "no shift where there are many logits, which float16 could not sum up either",
        edits=[
            (
                "    return (exact - peak).exp(), peak",
                "    if x.shape[dim] > 1000:\n        return exact.exp(), torch.zeros_like(peak)\n    return (exact - peak).exp(), peak",
            )
        ],
        check="test_sum_beyond_float16",
        says="inf",
    ),
    Wrong(
        "a window onto x for slices of one logit",
        edits=[
            (
                "    powers, peak = _shifted_exp(x, dim)\n",
                "    if x.shape[dim] == 1:\n        return x.squeeze(dim)\n    powers, peak = _shifted_exp(x, dim)\n",
            )
        ],
        check="test_logits_are_left_alone",
        says="shares the input's memory",
    ),
    Right(
        "softmax from its logarithm; max with indices; the peak keeps its gradient",
        code="""
import torch

def _upcast(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))

def softmax(x, dim):
    y = _upcast(x)
    peak = y.max(dim=dim, keepdim=True)[0]
    hopeless = torch.isneginf(peak)
    y = torch.where(hopeless, 0.0, y)
    y = y - torch.where(hopeless, 0.0, peak)
    p = (y - y.exp().sum(dim, keepdim=True).log()).exp()
    return torch.where(hopeless, 0.0, p).to(x.dtype)

def logsumexp(x, dim):
    y = _upcast(x)
    peak = torch.amax(y, dim)
    hopeless = torch.isneginf(peak)
    safe = torch.where(hopeless.unsqueeze(dim), 0.0, y)
    shift = torch.where(hopeless, 0.0, peak)
    total = torch.log(torch.sum(torch.exp(safe - shift.unsqueeze(dim)), dim))
    return torch.where(hopeless, -float("inf"), total + shift).to(x.dtype)
""",
    ),
    Right(
        "dim moved to the end, float64 for everybody, clamped sum",
        code="""
import torch

def _parts(x, dim):
    y = x.movedim(dim, -1).double()
    peak = y.amax(-1, keepdim=True).clamp(min=-1e300)
    return torch.exp(y - peak), peak

def softmax(x, dim):
    e, _ = _parts(x, dim)
    return (e / e.sum(-1, keepdim=True).clamp(min=1e-30)).movedim(-1, dim).to(x.dtype)

def logsumexp(x, dim):
    e, peak = _parts(x, dim)
    total = e.sum(-1)
    safe = torch.where(total > 0, total, torch.ones_like(total))
    result = torch.where(total > 0, safe.log() + peak[..., 0], total - float("inf"))
    return result.to(x.dtype)
""",
    ),
    Wrong(
        "a large number instead of -inf, above some logits",
        edits=[
            (
                HALF,
                "exact = (x if x.dtype == torch.float64 else x.float()).masked_fill(x == -math.inf, -1e9)",
            ),
            (
                "return (exact - peak).exp(), peak",
                "return (exact - peak).exp().masked_fill(x == -math.inf, 0), peak",
            ),
        ],
        check="test_masked_logits",
        says="slices far below vanish",
    ),
    Wrong(
        "clears NaN from the gradient by a hook, which stays on x",
        edits=[
            (
                HALF,
                f"{HALF}\n    if exact.requires_grad:\n        exact.register_hook(torch.nan_to_num)",
            )
        ],
        check="test_logits_are_left_alone",
        says="a hook on x",
    ),
    Right(
        "clears NaN by a hook on a view of its own",
        edits=[
            (
                HALF,
                f"{HALF}\n    exact = exact.view_as(exact)\n    if exact.requires_grad:\n        exact.register_hook(torch.nan_to_num)",
            )
        ],
    ),
    Right(
        "zeros by torch.where with a number",
        edits=[
            (
                PEAK,
                "peak = exact.detach().amax(dim, keepdim=True)\n    peak = torch.where(peak == -math.inf, 0.0, peak)",
            )
        ],
    ),
    Wrong(
        "-1e30 stands for -inf while the largest is sought",
        edits=[(PEAK, "peak = exact.detach().clamp(min=-1e30).amax(dim, keepdim=True)")],
        check="test_masked_logits",
        says="near -1e+38",
    ),
    Wrong(
        "masks with -1e4 in half, as attention does",
        edits=[
            (HALF, f"low = -1e4 if x.dtype == torch.float16 else torch.finfo(x.dtype).min\n    {HALF}"),
            (PEAK, "peak = exact.detach().masked_fill(x == -math.inf, low).amax(dim, keepdim=True)"),
            (
                NO_PEAK,
                "    peak = peak.masked_fill((x == -math.inf).all(dim, keepdim=True), 0)\n",
            ),
        ],
        check="test_masked_logits",
        says="near -60000",
    ),
    Wrong(
        "a single class has probability 1, without asking the logits",
        edits=[
            (
                "    powers, _ = _shifted_exp(x, dim)\n",
                "    if x.shape[dim] == 1:\n        return torch.ones_like(x).masked_fill(x == -math.inf, 0)\n"
                "    powers, _ = _shifted_exp(x, dim)\n",
            )
        ],
        check="test_gradients",
        says="carries no graph",
    ),
    Right(
        "the lowest finite number stands for -inf while the largest is sought",
        edits=[
            (PEAK, "peak = exact.detach().clamp(min=torch.finfo(exact.dtype).min).amax(dim, keepdim=True)")
        ],
    ),
]
