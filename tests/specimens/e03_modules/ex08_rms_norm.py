"""Answers to rms_norm that people write."""

from grader.authoring.specimen import Right, Works, Wrong

EXACT = "exact = x if x.dtype == torch.float64 else x.float()"
MEAN = "exact.square().mean(-1, keepdim=True)"
SCALE = f"scale = ({MEAN} + self.eps).rsqrt()  # (*shape, 1)"
RETURN = "return (exact * scale * self.weight).to(x.dtype)  # (*shape, features)"
WEIGHT = "self.weight = nn.Parameter(torch.ones(features))"
SHAPE = "if x.shape[-1:] != self.weight.shape:"

SPECIMENS = [
    Wrong(
        "the sum of squares",
        edits=[(MEAN, MEAN.replace("mean", "sum"))],
        check="test_worked_example",
        says="squares are added up",
        rung="job",
    ),
    Wrong(
        "takes the mean off: layer norm",
        edits=[(SCALE, "exact = exact - exact.mean(-1, keepdim=True)\n        " + SCALE)],
        check="test_rows",
        says="that is layer norm",
        rung="job",
    ),
    Wrong(
        "over the batch",
        edits=[(MEAN, "exact.square().mean(0, keepdim=True)")],
        check="test_rows",
        says="features are the last",
        rung="job",
    ),
    Wrong(
        "eps outside the root",
        edits=[(SCALE, f"scale = 1 / ({MEAN}.sqrt() + self.eps)")],
        check="test_eps",
        says="to the root, not under it",
        rung="job",
    ),
    Wrong(
        "ignores eps",
        edits=[("self.eps = eps", "self.eps = 1e-6")],
        check="test_eps",
        says="not the eps of the layer",
        rung="job",
    ),
    Wrong(
        "takes the root mean square for a constant",
        edits=[(MEAN, MEAN.replace("exact", "exact.detach()"))],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "the weight as a plain tensor",
        edits=[(WEIGHT, "self.weight = torch.ones(features)")],
        check="test_registered",
        rung="job",
    ),
    Wrong(
        "PyTorch's own",
        edits=[(RETURN, "return nn.functional.rms_norm(x, self.weight.shape, self.weight, self.eps)")],
        check="test_own_computation",
        says="rms_norm",
        rung="job",
    ),
    Wrong(
        "computes in half precision",
        edits=[(EXACT, "exact = x")],
        check="test_half_precision",
    ),
    Wrong(
        "rounds before the weight, as LLaMA does",
        edits=[(RETURN, "return ((exact * scale).to(x.dtype) * self.weight).to(x.dtype)")],
        check="test_half_precision",
        says="rounded before the weight",
    ),
    Wrong(
        "float32 for everything",
        edits=[(EXACT, "exact = x.float()")],
        check="test_dtypes",
    ),
    Wrong(
        "squares in place where no gradient is asked for",
        edits=[
            (
                SCALE,
                SCALE
                + "\n        if not torch.is_grad_enabled():\n            return x.mul_(scale) * self.weight",
            )
        ],
        check="test_x_stays",
    ),
    Wrong(
        "eps as a tensor on the CPU",
        edits=[("+ self.eps)", "+ torch.full((1,), self.eps))")],
        check="test_on_a_device",
    ),
    Wrong(
        "does not look at the features",
        edits=[(SHAPE, "if x.dim() == 0:")],
        check="test_bad_input",
    ),
    Works(
        "LLaMA's",
        code="""
import torch
from torch import nn


class RMSNorm(torch.nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float()).type_as(x)
        return output * self.weight
""",
    ),
    Works(
        "Hugging Face's",
        code="""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)
""",
    ),
    Works(
        "the formula as it stands",
        code="""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        return self.weight * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + self.eps)
""",
    ),
    Right(
        "promoted types, a norm, a division",
        code="""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.features, self.eps = features, eps
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        if x.shape[-1] != self.features:
            raise ValueError("features")
        y = x.to(torch.promote_types(x.dtype, torch.float32))
        mean = y.norm(dim=-1, keepdim=True) ** 2 / self.features
        return (y / torch.sqrt(mean + self.eps) * self.weight).type_as(x)
""",
    ),
    Right(
        "through einsum, the weight first",
        code="""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        (features,) = self.weight.shape
        if x.size(-1) != features:
            raise ValueError(f"x has {x.size(-1)} features, not {features}")
        kind = torch.float64 if x.dtype is torch.float64 else torch.float32
        y = x.to(kind)
        mean = torch.einsum("...i,...i->...", y, y).unsqueeze(-1) / features
        return (self.weight.to(kind) * y * torch.rsqrt(mean + self.eps)).to(x.dtype)
""",
    ),
]
