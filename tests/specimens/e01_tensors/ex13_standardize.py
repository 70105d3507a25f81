"""Answers to standardize that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WIDE = "    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x\n"
CENTRED = "    centred = wide - wide.mean(dim, keepdim=True)  # (*shape)\n"
VARIANCE = "    variance = wide.var(dim, correction=correction, keepdim=True)  # size 1 along dim\n"
RESULT = "    return (centred / (variance + eps).sqrt()).to(x.dtype)\n"

SPECIMENS = [
    Wrong(
        "forgets keepdim: broadcasts along another dimension",
        edits=[("wide.mean(dim, keepdim=True)", "wide.mean(dim)")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "always along the last dimension",
        edits=[
            ("wide.mean(dim, keepdim=True)", "wide.mean(-1, keepdim=True)"),
            ("wide.var(dim,", "wide.var(-1,"),
        ],
        check="test_values",
        says="those along the last dimension",
        rung="job",
    ),
    Wrong(
        "one dimension of a tuple after the other",
        edits=[
            (
                CENTRED + VARIANCE + RESULT,
                "    for d in (dim,) if isinstance(dim, int) else dim:\n"
                "        centred = wide - wide.mean(d, keepdim=True)\n"
                "        wide = centred / (wide.var(d, correction=correction, keepdim=True) + eps).sqrt()\n"
                "    return wide.to(x.dtype)\n",
            )
        ],
        check="test_values",
        says="one dimension after the other",
        rung="job",
    ),
    Wrong(
        "n - 1 where nothing is said, as x.var(dim) does",
        edits=[("correction=correction, keepdim", "correction=correction or 1, keepdim")],
        check="test_values",
        says="divided by n - 1, not",
        rung="job",
    ),
    Wrong(
        "ignores correction",
        edits=[("correction=correction, keepdim", "correction=0, keepdim")],
        check="test_correction",
        says="divided by n, not",
        rung="job",
    ),
    Wrong(
        "ignores eps",
        edits=[("/ (variance + eps)", "/ (variance + 1e-5)")],
        check="test_eps",
        says="not the eps of the call",
        rung="job",
    ),
    Wrong(
        "adds eps to the standard deviation",
        edits=[("/ (variance + eps).sqrt()", "/ (variance.sqrt() + eps)")],
        check="test_eps",
        says="added to the standard deviation",
        rung="job",
    ),
    Wrong(
        "statistics without gradients",
        edits=[("/ (variance + eps).sqrt()", "/ (variance.detach() + eps).sqrt()")],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                CENTRED,
                "    if dim == 1 and x.dim() == 2 and len(x):\n"
                "        rows = [standardize(row, 0, correction=correction, eps=eps) for row in x]\n"
                "        return torch.stack(rows)\n" + CENTRED,
            )
        ],
        check="test_no_loop",
        says="grows with rows",
        rung="job",
    ),
    Wrong(
        "mean of squares minus square of the mean",
        edits=[
            (
                VARIANCE,
                "    n = wide.numel() // max(wide.sum(dim).numel(), 1)\n"
                "    squares = wide.square().mean(dim, keepdim=True)\n"
                "    variance = (squares - wide.mean(dim, keepdim=True).square()).clamp(min=0)\n"
                "    variance = variance * n / (n - correction)\n",
            )
        ],
        check="test_far_from_zero",
    ),
    Wrong(
        "float32 for all dtypes",
        edits=[(WIDE, "    wide = x.float()\n")],
        check="test_dtype_is_kept",
    ),
    Wrong(
        "a root whose gradient is infinite where the variance is zero",
        edits=[(RESULT, "    return (centred / (variance.sqrt().square() + eps).sqrt()).to(x.dtype)\n")],
        check="test_gradient_of_equal_numbers",
    ),
    Wrong(
        "centres the caller's features in place",
        edits=[(CENTRED, "    x.data.sub_(x.data.mean(dim, keepdim=True))\n    centred = wide\n")],
        check="test_arguments_are_left_alone",
        says="changes",
    ),
    Wrong(
        "fails on an empty batch",
        edits=[(WIDE, '    if x.numel() == 0:\n        raise ValueError("nothing to standardize")\n' + WIDE)],
        check="test_empty",
    ),
    Wrong(
        "a result on the CPU",
        edits=[
            (RESULT, "    return torch.zeros(x.shape, dtype=x.dtype) + centred / (variance + eps).sqrt()\n")
        ],
        check="test_stays_on_the_device",
    ),
    Works(
        "the formula, with torch's variance",
        code="""
def standardize(x, dim, *, correction=0, eps=1e-5):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=correction, keepdim=True)
    return (x - mean) / (var + eps).sqrt()
""",
    ),
    Works(
        "as a textbook writes layer norm: sums and counts",
        code="""
import math
import torch

def standardize(x, dim, *, correction=0, eps=1e-5):
    dims = [dim] if isinstance(dim, int) else list(dim)
    n = math.prod(x.size(d) for d in dims)
    mean = x.sum(dims, keepdim=True) / n
    var = ((x - mean) ** 2).sum(dims, keepdim=True) / (n - correction)
    return (x - mean) / torch.sqrt(var + eps)
""",
    ),
    Right(
        "with var_mean and rsqrt",
        code="""
import torch

def standardize(x, dim, *, correction=0, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    var, mean = torch.var_mean(wide, dim=dim, correction=correction, keepdim=True)
    return ((wide - mean) * torch.rsqrt(var + eps)).type_as(x)
""",
    ),
    Right(
        "in float64 throughout, with the mean of the squares",
        code="""
import math
import torch

def standardize(x, dim, *, correction=0, eps=1e-5):
    dims = [dim] if isinstance(dim, int) else list(dim)
    n = math.prod(x.size(d) for d in dims)
    centred = x.double() - x.double().mean(dims, keepdim=True)
    variance = centred.square().mean(dims, keepdim=True) * (n / (n - correction))
    return torch.div(centred, torch.pow(variance + eps, 0.5)).to(x.dtype)
""",
    ),
]
