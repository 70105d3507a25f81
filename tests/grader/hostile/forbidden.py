"""Forbidden functions by every detour: the values are right, and the answer must not pass."""

from tests.grader.hostile.answers import Hostile

_BOTH = """import torch
{code}

def softmax(x, dim):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return torch.nan_to_num({softmax}).to(x.dtype)

def logsumexp(x, dim):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return {logsumexp}.to(x.dtype)
"""


def _by(about: str, softmax: str, logsumexp: str = "torch.logsumexp(wide, dim)", code: str = "") -> Hostile:
    text = _BOTH.format(code=code, softmax=softmax, logsumexp=logsumexp)
    return Hostile(
        f"softmax {about}",
        instead=text,
        slug="stable_softmax",
        statuses=("failed", "tampered", "partial", "broken"),
        most=0.95,
    )


FORBIDDEN = [
    _by("by its name", "torch.softmax(wide, dim)"),
    _by("as a method", "wide.softmax(dim)", "wide.logsumexp(dim)"),
    _by("by getattr", "getattr(torch, 'soft' + 'max')(wide, dim)", "getattr(wide, 'logsum' + 'exp')(dim)"),
    _by("from nn.functional", "torch.nn.functional.softmax(wide, dim)"),
    _by("as a module", "torch.nn.Softmax(dim)(wide)"),
    _by("as log_softmax", "torch.log_softmax(wide, dim).exp()"),
    _by(
        "through torch.ops",
        "torch.ops.aten.softmax.int(wide, dim)",
        "torch.ops.aten.logsumexp.default(wide, [dim])",
    ),
    _by(
        "through torch.ops below autograd's names",
        "torch.ops.aten._softmax.default(wide, dim, False)",
        "torch.ops.aten.logsumexp.default(wide, [dim])",
    ),
    _by("through torch.special", "torch.special.softmax(wide, dim)", "torch.special.logsumexp(wide, dim)"),
    _by(
        "through _C",
        "torch._C._nn.softmax(wide, dim) if hasattr(torch._C._nn, 'softmax') else torch._softmax(wide, dim, False)",
    ),
    _by("through _VF", "torch._VF.softmax(wide, dim)", "torch._VF.logsumexp(wide, dim)"),
    _by(
        "with torch functions switched off",
        "off(torch.softmax, wide, dim)",
        "off(torch.logsumexp, wide, dim)",
        code="def off(f, *a):\n    with torch._C.DisableTorchFunction():\n        return f(*a)\n",
    ),
    _by(
        "compiled",
        "fast(wide, dim)",
        code="fast = torch.compile(lambda x, dim: torch.softmax(x, dim), backend='eager')\n",
    ),
    _by(
        "through vmap",
        "torch.func.vmap(lambda row: torch.softmax(row, -1))(wide) if wide.dim() == 2 and dim in (1, -1) else torch.softmax(wide, dim)",
    ),
    _by(
        "hidden in a script",
        "scripted(wide, dim)",
        code="@torch.jit.script\ndef scripted(x: torch.Tensor, dim: int):\n    return torch.softmax(x, dim)\n",
    ),
    _by("as the gradient of logsumexp", "torch.func.grad(lambda w: torch.logsumexp(w, dim).sum())(wide)"),
    _by("as attention weights", "torch.nn.functional.gumbel_softmax(wide, dim=dim)"),
]
