"""Answers to stable_softmax that people write."""

from grader.authoring.specimen import Right, Works, Wrong

HALF = "exact = x if x.dtype == torch.float64 else x.float()  # half would round at each step"
PEAK = "peak = exact.detach().amax(dim, keepdim=True)  # the shift cancels: it needs no gradient"
NO_PEAK = "    peak = peak.masked_fill(peak == -math.inf, 0)  # -inf - -inf is NaN\n"
NO_TOTAL = (
    "    total = total.masked_fill(total == 0, 1)  # a slice of -inf: 0 / 1, for the value and the gradient\n"
)
SOFTMAX = "return (powers / total).to(x.dtype)  # (*shape)"

SPECIMENS = [
    Wrong(
        "by the book, without a shift",
        edits=[(PEAK, "peak = torch.zeros_like(exact.detach().amax(dim, keepdim=True))")],
        check="test_softmax_large_logits",
        says="nan",
        rung="job",
    ),
    Wrong(
        "shifts the whole batch by one number",
        code="""
def softmax(x, dim):
    powers = (x - x.max()).exp()
    return powers / powers.sum(dim, keepdim=True)

def logsumexp(x, dim):
    return (x - x.max()).exp().sum(dim).log() + x.max()
""",
        check="test_softmax_heights",
        rung="job",
    ),
    Wrong(
        "softmax from the rounded logsumexp",
        edits=[(SOFTMAX, "return (x - logsumexp(x, dim).unsqueeze(dim)).exp().nan_to_num(0.0)")],
        check="test_softmax_digits",
    ),
    Wrong(
        "always the last dim",
        edits=[
            (
                "    powers, _ = _shifted_exp(x, dim)\n    total = powers.sum(dim, keepdim=True)",
                "    powers, _ = _shifted_exp(x, -1)\n    total = powers.sum(-1, keepdim=True)",
            )
        ],
        check="test_softmax_values",
        rung="job",
    ),
    Wrong(
        "logsumexp that keeps the dim",
        edits=[
            ("total = powers.sum(dim)  # (*reduced)", "total = powers.sum(dim, keepdim=True)"),
            ("peak.squeeze(dim)", "peak"),
        ],
        check="test_logsumexp_values",
        says="keepdim",
        rung="job",
    ),
    Wrong(
        "adds the peak before the logarithm",
        edits=[
            (
                "total.masked_fill(empty, 1).log() + peak.squeeze(dim)",
                "(total.masked_fill(empty, 1) + peak.squeeze(dim)).log()",
            )
        ],
        check="test_logsumexp_worked_example",
        says="added before the logarithm",
        rung="job",
    ),
    Wrong(
        "cleans away what a masked logit made",
        edits=[
            (
                "    powers, peak = _shifted_exp(x, dim)\n",
                "    x = x.clamp(min=0.0)\n    powers, peak = _shifted_exp(x, dim)\n",
            )
        ],
        check="test_logsumexp_masked_logits",
        rung="job",
    ),
    Wrong(
        "detaches the total",
        edits=[("total = powers.sum(dim, keepdim=True)", "total = powers.detach().sum(dim, keepdim=True)")],
        check="test_softmax_gradients",
        rung="job",
    ),
    Wrong(
        "log_softmax and Tensor.logsumexp do the work",
        code="""
import torch.nn.functional as F

def softmax(x, dim):
    return F.log_softmax(x, dim).exp()

def logsumexp(x, dim):
    return x.logsumexp(dim)
""",
        check="test_softmax_own_computation",
        says="log_softmax",
        rung="job",
    ),
    Wrong(
        "-1e9 stands for -inf: a masked slice becomes uniform",
        edits=[(HALF, "exact = (x if x.dtype == torch.float64 else x.float()).clamp(min=-1e9)")],
        check="test_softmax_slices_of_inf",
        says="a finite number stands for -inf",
    ),
    Wrong(
        "the right values, with NaN in the gradient: log(0) is filled in afterwards",
        edits=[("total.masked_fill(empty, 1).log()", "total.log()")],
        check="test_gradient_of_a_masked_slice",
        says="nan",
    ),
    Wrong(
        "float32 for everybody",
        edits=[(HALF, "exact = x.float()")],
        check="test_softmax_dtype_is_kept",
    ),
    Wrong(
        "shifts the caller's logits in place",
        edits=[
            (
                "return (exact - peak).exp(), peak",
                "return (exact - peak if x.requires_grad else exact.sub_(peak)).exp(), peak",
            )
        ],
        check="test_softmax_arguments_are_left_alone",
        says="changes its input x",
    ),
    Wrong(
        "looks at the values to decide",
        edits=[
            (NO_PEAK, "    if (peak == -math.inf).any():\n" + NO_PEAK.replace("    peak", "        peak", 1))
        ],
        check="test_softmax_stays_on_the_device",
        says="copies between host and device",
    ),
    Works(
        "less the largest logit of each slice, as textbooks write it",
        code="""
import torch

def softmax(x, dim):
    e = torch.exp(x - x.max(dim, keepdim=True).values)
    return e / e.sum(dim, keepdim=True)

def logsumexp(x, dim):
    m = x.max(dim, keepdim=True).values
    return (torch.exp(x - m).sum(dim, keepdim=True).log() + m).squeeze(dim)
""",
    ),
    Works(
        "the peak by amax, detached",
        code="""
def softmax(x, dim):
    e = (x - x.detach().amax(dim, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)

def logsumexp(x, dim):
    c = x.amax(dim)
    return c + (x - c.unsqueeze(dim)).exp().sum(dim).log()
""",
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
]
