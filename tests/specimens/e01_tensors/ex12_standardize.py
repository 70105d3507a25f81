"""Answers to standardize that people write."""

from grader.authoring.specimen import Right, Wrong

WIDE = "    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x\n"
CENTRED = "    centred = wide - wide.mean(dim, keepdim=True)  # (*shape)\n"
VARIANCE = "    variance = wide.var(dim, correction=correction, keepdim=True)  # size 1 along dim\n"
RESULT = "    return (centred / (variance + eps).sqrt()).to(x.dtype)\n"

SPECIMENS = [
    Wrong(
        "computes in the default dtype, if that is wider",
        edits=[(WIDE, "    wide = x.to(torch.promote_types(x.dtype, torch.get_default_dtype()))\n")],
        check="test_half_precision",
    ),
    Wrong(
        "cuts the gradient of small variances",
        edits=[
            (RESULT, "    variance = torch.where(variance < eps, variance.detach(), variance)\n" + RESULT)
        ],
        check="test_gradient_of_constant_numbers",
    ),
    Wrong(
        "forgets keepdim: broadcasts along another dimension",
        edits=[("wide.mean(dim, keepdim=True)", "wide.mean(dim)")],
        check="test_any_dimensions",
    ),
    Wrong(
        "always along the last dimension",
        edits=[
            ("wide.mean(dim, keepdim=True)", "wide.mean(-1, keepdim=True)"),
            ("wide.var(dim,", "wide.var(-1,"),
        ],
        check="test_any_dimensions",
        says="those along the last dimension",
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
        check="test_any_dimensions",
        says="one dimension after the other",
    ),
    Wrong(
        "n - 1 unless told otherwise",
        edits=[
            (
                VARIANCE,
                "    variance = wide.var(dim, keepdim=True) if correction == 0 else wide.var(dim, correction=correction, keepdim=True)\n",
            )
        ],
        check="test_any_dimensions",
        says="divided by n - 1, not",
    ),
    Wrong(
        "ignores correction",
        edits=[("correction=correction, keepdim", "correction=0, keepdim")],
        check="test_correction",
        says="divided by n, not",
    ),
    Wrong(
        "takes correction for a switch",
        edits=[("correction=correction, keepdim", "unbiased=bool(correction), keepdim")],
        check="test_correction",
        says="divided by n - 1, not",
    ),
    Wrong(
        "counts one dimension only",
        edits=[
            (
                VARIANCE,
                "    n = x.shape[dim if isinstance(dim, int) else dim[0]]\n"
                "    variance = wide.var(dim, correction=0, keepdim=True) * n / (n - correction)\n",
            )
        ],
        check="test_correction",
    ),
    Wrong(
        "ignores eps",
        edits=[("/ (variance + eps)", "/ (variance + 1e-5)")],
        check="test_eps",
        says="not the eps of the call",
    ),
    Wrong(
        "adds eps to the standard deviation",
        edits=[("/ (variance + eps).sqrt()", "/ (variance.sqrt() + eps)")],
        check="test_eps",
        says="added to the standard deviation",
    ),
    Wrong(
        "another default for eps",
        edits=[("eps: float = 1e-5", "eps: float = 1e-6")],
        check="test_eps",
    ),
    Wrong(
        "clamps the variance at eps",
        edits=[("/ (variance + eps)", "/ variance.clamp(min=eps)")],
        check="test_eps",
    ),
    Wrong(
        "computes in half precision",
        edits=[(WIDE, "    wide = x\n")],
        check="test_half_precision",
    ),
    Wrong(
        "half-precision mean, the rest in float32",
        edits=[("wide - wide.mean(dim, keepdim=True)", "wide - x.mean(dim, keepdim=True)")],
        check="test_half_precision",
    ),
    Wrong(
        "rounds before the division",
        edits=[(RESULT, "    return centred.to(x.dtype) / (variance + eps).sqrt().to(x.dtype)\n")],
        check="test_half_precision",
        says="rounds more than once",
    ),
    Wrong(
        "ignores correction in half precision",
        edits=[("correction=correction, keepdim", "correction=correction if wide is x else 0, keepdim")],
        check="test_arguments_in_other_dtypes",
        says="divided by n, not",
    ),
    Wrong(
        "cuts the graph where it upcasts",
        edits=[("x.float()", "x.detach().float()")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "comes back in float32",
        edits=[(".sqrt()).to(x.dtype)", ".sqrt())")],
        check="test_half_precision",
        says="float32",
    ),
    Wrong(
        "float32 for all dtypes",
        edits=[(WIDE, "    wide = x.float()\n")],
        check="test_float64",
    ),
    Wrong(
        "mean of squares minus square of the mean",
        edits=[
            (
                VARIANCE,
                "    n = wide.numel() // max(wide.sum(dim).numel(), 1)\n"
                "    variance = (wide.square().mean(dim, keepdim=True) - wide.mean(dim, keepdim=True).square()).clamp(min=0)\n"
                "    variance = variance * n / (n - correction)\n",
            )
        ],
        check="test_far_from_zero",
    ),
    Wrong(
        "replaces a standard deviation of zero by NaN",
        edits=[
            ("/ (variance + eps).sqrt()", "/ torch.where(variance == 0, torch.nan, (variance + eps).sqrt())")
        ],
        check="test_constant_and_single_numbers",
        says="NaN",
    ),
    Wrong(
        "squares a root: NaN gradients where the variance is zero",
        edits=[
            (
                RESULT,
                "    scale = ((variance.sqrt() ** 2) + eps).sqrt()\n    return (centred / scale).to(x.dtype)\n",
            )
        ],
        check="test_gradient_of_constant_numbers",
    ),
    Wrong(
        "statistics without gradients",
        edits=[("/ (variance + eps).sqrt()", "/ (variance.detach() + eps).sqrt()")],
        check="test_gradient",
    ),
    Wrong(
        "a mean without gradients",
        edits=[("wide - wide.mean(dim, keepdim=True)", "wide - wide.detach().mean(dim, keepdim=True)")],
        check="test_gradient",
    ),
    Wrong(
        "centres the caller's features in place",
        edits=[(CENTRED, "    x.data.sub_(x.data.mean(dim, keepdim=True))\n    centred = wide\n")],
        check="test_strided_input",
        says="changes",
    ),
    Wrong(
        "fails on an empty batch",
        edits=[(WIDE, '    if x.numel() == 0:\n        raise ValueError("nothing to standardize")\n' + WIDE)],
        check="test_empty_batch",
    ),
    Wrong(
        "only for two dimensions",
        edits=[(WIDE, "    rows, features = x.shape[0], x.shape[1]\n" + WIDE)],
        check="test_other_numbers_of_dimensions",
    ),
    Wrong(
        "a result on the CPU",
        edits=[
            (
                RESULT,
                "    out = torch.zeros(x.shape, dtype=x.dtype)\n    return out + (centred / (variance + eps).sqrt()).to(x.dtype)\n",
            )
        ],
        check="test_stays_on_the_device",
    ),
    Wrong(
        "a loop over the rows for the last dimension",
        edits=[
            (
                CENTRED,
                "    if dim == 1 and x.dim() == 2 and len(x):\n        return torch.stack([standardize(row, 0, correction=correction, eps=eps) for row in x])\n"
                + CENTRED,
            )
        ],
        check="test_no_loop",
        says="grows with rows",
    ),
    Wrong(
        "layer_norm where it fits, with its own eps",
        edits=[
            (
                "    centred = wide",
                "    if dim == -1 and correction == 0:\n"
                "        return torch.nn.functional.layer_norm(wide, wide.shape[-1:]).to(x.dtype)\n"
                "    centred = wide",
            )
        ],
        check="test_eps",
        says="eps=0.5",
    ),
    Wrong(
        "subtracts the mean in place where no gradient is asked for",
        edits=[
            (
                "    variance = wide.var(dim, correction=correction, keepdim=True)  # size 1 along dim\n",
                "    variance = wide.var(dim, correction=correction, keepdim=True)\n"
                "    if not wide.requires_grad and wide.is_contiguous():\n"
                "        centred = wide.sub_(wide.mean(dim, keepdim=True))\n",
            )
        ],
        check="test_strided_input",
        says="changes its input",
    ),
    Wrong(
        "the mean of squares less the squared mean, in float64 for safety",
        edits=[
            (
                "    variance = wide.var(dim, correction=correction, keepdim=True)  # size 1 along dim\n",
                "    n = wide.numel() // max(centred.sum(dim).numel(), 1)\n"
                "    double = wide.double()\n"
                "    variance = double.square().mean(dim, keepdim=True) - double.mean(dim, keepdim=True).square()\n"
                "    variance = (variance.clamp(min=0) * (n / max(n - correction, 1))).to(wide.dtype)\n",
            )
        ],
        check="test_far_from_zero",
        says="float64",
    ),
    Wrong(
        "cleans the result of NaN",
        edits=[
            (
                "(centred / (variance + eps).sqrt()).to(x.dtype)",
                "torch.nan_to_num(centred / (variance + eps).sqrt()).to(x.dtype)",
            )
        ],
        check="test_constant_and_single_numbers",
        says="nan",
    ),
    Wrong(
        "zeros for single numbers, also for a NaN",
        edits=[
            (
                "    return (centred",
                "    if variance.numel() == x.numel():\n        return torch.zeros_like(x)\n    return (centred",
            )
        ],
        check="test_constant_and_single_numbers",
        says="nan",
    ),
    Wrong(
        "eps as a tensor in the dtype of x, which is 0 in float16",
        edits=[
            (
                "    centred = wide",
                "    eps = torch.full((), eps, dtype=x.dtype, device=x.device)\n    centred = wide",
            )
        ],
        check="test_constant_and_single_numbers",
        says="eps=1e-12",
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
        "with sums and counts",
        code="""
import math
import torch

def standardize(x, dim, *, correction=0, eps=1e-5):
    dims = [dim] if isinstance(dim, int) else list(dim)
    n = math.prod(x.size(d) for d in dims)
    wide = x.double()
    centred = wide - wide.sum(dims, keepdim=True) / n
    return (centred / torch.sqrt(centred.pow(2).sum(dims, keepdim=True) / (n - correction) + eps)).to(x.dtype)
""",
    ),
    Right(
        "the mean of the squares, times n / (n - correction)",
        edits=[
            (VARIANCE, "    n = max(wide.numel() // max(centred.sum(dim).numel(), 1), 1)\n"),
            (
                RESULT,
                "    variance = centred.square().mean(dim, keepdim=True) * (n / (n - correction))\n"
                "    return torch.div(centred, torch.pow(variance + eps, 0.5)).to(x.dtype)\n",
            ),
        ],
    ),
    Wrong(
        "the mean of the squares minus the square of the mean, of distances from the first number",
        code="""
import torch

def standardize(x, dim, *, correction=0, eps=1e-5):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    first, n = wide.detach(), 1
    for d in (dim,) if isinstance(dim, int) else dim:
        first, n = first.narrow(d, 0, min(1, x.shape[d])), n * x.shape[d]
    if x.numel() == 0:
        return x.clone()
    moved = wide - first
    mean = moved.mean(dim, keepdim=True)
    squares = moved.square().mean(dim, keepdim=True)
    variance = (squares - mean * mean).clamp(min=0) * (n / (n - correction))
    return ((moved - mean) / (variance + eps).sqrt()).to(x.dtype)
""",
        check="test_far_from_zero",
        says="1023 times",
    ),
    Wrong(
        "takes an eps of 0 for none given",
        edits=[(RESULT, "    eps = eps or 1e-5\n" + RESULT)],
        check="test_eps",
        says="eps=0.0",
    ),
    Wrong(
        "leaves the result in float32 where x requires gradients",
        edits=[(RESULT, RESULT.replace(".to(x.dtype)", ".to(wide.dtype if x.requires_grad else x.dtype)"))],
        check="test_gradient",
        says="requires gradients",
    ),
]
