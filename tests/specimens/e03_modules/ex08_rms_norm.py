"""Answers to rms_norm that people write."""

from grader.authoring.specimen import Right, Wrong

EXACT = "exact = x if x.dtype == torch.float64 else x.float()"
SCALE = "scale = (exact.square().mean(-1, keepdim=True) + self.eps).rsqrt()"
RETURN = "return (exact * scale * self.weight).to(x.dtype)"
SHAPE = "if x.dim() == 0 or x.shape[-1] != self.features:"
WEIGHT = "self.weight = nn.Parameter(torch.ones(features))"

SPECIMENS = [
    Wrong("computes in half precision", edits=[(EXACT, "exact = x")], check="test_half_rounds_once"),
    Wrong(
        "squares in half precision, the rest in float32",
        edits=[("exact.square()", "x.square().to(exact.dtype)")],
        check="test_half_rounds_once",
    ),
    Wrong(
        "squares in bfloat16, which has the room",
        edits=[("exact.square()", "(x if x.dtype == torch.bfloat16 else exact).square().to(exact.dtype)")],
        check="test_half_rounds_once",
    ),
    Wrong(
        "divides in place where no gradient is asked for",
        edits=[
            (
                RETURN,
                "if not torch.is_grad_enabled():\n            return (exact.mul_(scale) * self.weight).to(x.dtype)\n        "
                + RETURN,
            )
        ],
        check="test_layouts",
        says="changes its input",
    ),
    Wrong(
        "rounds before the weight, as many models do",
        edits=[(RETURN, "return ((exact * scale).to(x.dtype) * self.weight).to(x.dtype)")],
        check="test_half_rounds_once",
    ),
    Wrong(
        "rounds the factor before it multiplies",
        edits=[(RETURN, "return (x * scale.to(x.dtype) * self.weight).to(x.dtype)")],
        check="test_half_rounds_once",
    ),
    Wrong(
        "float32 for everything",
        edits=[(EXACT, "exact = x.float()")],
        check="test_dtype_of_the_input",
    ),
    Wrong(
        "the result in the dtype of the weight",
        edits=[(RETURN, "return (exact * scale * self.weight).to(self.weight.dtype)")],
        check="test_dtype_of_the_input",
        says="dtype",
    ),
    Wrong(
        "float32 comes out",
        edits=[(RETURN, "return exact * scale * self.weight")],
        check="test_half_rounds_once",
        says="dtype",
    ),
    Wrong(
        "casts x to the dtype of the weight",
        edits=[(EXACT, "exact = x.to(self.weight.dtype)")],
        check="test_dtype_of_the_input",
    ),
    Wrong(
        "casts the layer itself to float32",
        edits=[(EXACT, EXACT + "\n        self.float()")],
        check="test_dtype_of_the_input",
        says="weight",
    ),
    Wrong(
        "over the batch",
        edits=[("mean(-1, keepdim=True)", "mean(0, keepdim=True)")],
        check="test_last_dimension",
        says="the mean runs over dim 0",
    ),
    Wrong(
        "over everything",
        edits=[("mean(-1, keepdim=True)", "mean()")],
        check="test_last_dimension",
    ),
    Wrong(
        "the sum of squares",
        edits=[("mean(-1, keepdim=True)", "sum(-1, keepdim=True)")],
        check="test_last_dimension",
        says="squares are added up",
    ),
    Wrong(
        "takes the mean off",
        edits=[(EXACT, EXACT + "\n        exact = exact - exact.mean(-1, keepdim=True)")],
        check="test_last_dimension",
        says="the mean is taken off first",
    ),
    Wrong(
        "dimension 1, for (batch, features) only",
        edits=[("mean(-1, keepdim=True)", "mean(min(1, x.dim() - 1), keepdim=True)")],
        check="test_last_dimension",
        says="the mean runs over dim 1",
    ),
    Wrong(
        "squeezes",
        edits=[(RETURN, RETURN + ".squeeze()")],
        check="test_last_dimension",
        says="shape",
    ),
    Wrong("ignores eps", edits=[("self.eps = eps", "self.eps = 1e-6")], check="test_last_dimension"),
    Wrong(
        "another default",
        edits=[("eps: float = 1e-6", "eps: float = 1e-5")],
        check="test_default_eps",
    ),
    Wrong(
        "eps outside the root",
        edits=[(SCALE, "scale = 1 / (exact.square().mean(-1, keepdim=True).sqrt() + self.eps)")],
        check="test_last_dimension",
        says="eps is added to the root",
    ),
    Wrong(
        "eps as a lower bound",
        edits=[(SCALE, "scale = exact.square().mean(-1, keepdim=True).clamp(min=self.eps).rsqrt()")],
        check="test_last_dimension",
    ),
    Wrong(
        "scales everything by the largest number first",
        edits=[
            (
                EXACT,
                EXACT + "\n        exact = exact / exact.abs().max().clamp(min=1.0) if x.numel() else exact",
            )
        ],
        check="test_large_and_small",
    ),
    Wrong(
        "clamps against overflow",
        edits=[(EXACT, EXACT + "\n        exact = exact.clamp(-1e4, 1e4)")],
        check="test_large_and_small",
    ),
    Wrong(
        "takes the root mean square for a constant",
        edits=[("+ self.eps).rsqrt()", "+ self.eps).rsqrt().detach()")],
        check="test_gradients",
        says="gradient for x",
    ),
    Wrong(
        "uses the data of the weight",
        edits=[("scale * self.weight)", "scale * self.weight.data)")],
        check="test_gradients",
        says="weight",
    ),
    Wrong(
        "a root that has no gradient at 0",
        edits=[(SCALE, "scale = (exact.square().mean(-1, keepdim=True).sqrt().square() + self.eps).rsqrt()")],
        check="test_gradient_of_zeros",
        says="nan",
    ),
    Wrong(
        "skips rows of zeros",
        edits=[
            (
                RETURN,
                "out = "
                + RETURN.removeprefix("return ")
                + "\n        return out.masked_fill((x == 0).all(-1, keepdim=True), 0)",
            )
        ],
        check="test_gradient_of_zeros",
    ),
    Wrong(
        "the weight as a plain tensor",
        edits=[(WEIGHT, "self.weight = torch.ones(features, requires_grad=True)")],
        check="test_registered",
        says="parameters",
    ),
    Wrong(
        "the weight as a buffer",
        edits=[(WEIGHT, 'self.register_buffer("weight", torch.ones(features))')],
        check="test_registered",
        says="parameters",
    ),
    Wrong(
        "a bias as well",
        edits=[(WEIGHT, WEIGHT + "\n        self.bias = nn.Parameter(torch.zeros(features))")],
        check="test_registered",
        says="bias",
    ),
    Wrong(
        "eps as a buffer",
        edits=[("self.eps = eps", 'self.register_buffer("eps", torch.tensor(eps))')],
        check="test_registered",
        says="eps",
    ),
    Wrong(
        "a weight of zeros, as an offset from one",
        edits=[
            ("torch.ones(features)", "torch.zeros(features)"),
            ("scale * self.weight)", "scale * (1 + self.weight))"),
        ],
        check="test_registered",
    ),
    Wrong(
        "a float32 copy of the weight, made once",
        edits=[
            ("self.eps = eps", "self.eps = eps\n        self._wide = None"),
            (
                RETURN,
                "if self._wide is None:\n            self._wide = self.weight.float()\n        return (exact * scale * self._wide).to(x.dtype)",
            ),
        ],
        check="test_in_use",
    ),
    Wrong(
        "eps made on the CPU",
        edits=[("+ self.eps)", "+ torch.tensor([self.eps], dtype=exact.dtype))")],
        check="test_on_a_device",
    ),
    Wrong(
        "asks whether there are zeros",
        edits=[
            (
                EXACT,
                EXACT
                + "\n        if x.numel() and not x.any():\n            return x * self.weight.to(x.dtype)",
            )
        ],
        check="test_on_a_device",
        says="copies",
    ),
    Wrong(
        "works in place",
        edits=[(RETURN, "return exact.data.mul_(scale.detach()).mul(self.weight).to(x.dtype)")],
        check="test_layouts",
        says="changes its input",
    ),
    Wrong(
        "returns x where there is nothing to do",
        edits=[
            (
                RETURN,
                "out = "
                + RETURN.removeprefix("return ")
                + "\n        return x if torch.equal(self.weight, torch.ones_like(self.weight)) and torch.allclose(out, x) else out",
            )
        ],
        check="test_layouts",
        says="view",
    ),
    Wrong(
        "flattens the rows with view",
        edits=[(EXACT, EXACT + "\n        exact = exact.view(-1, self.features).view(x.shape)")],
        check="test_layouts",
    ),
    Wrong(
        "reshapes no rows with -1",
        edits=[
            (
                EXACT,
                EXACT
                + "\n        exact = exact.reshape(len(x) if x.dim() > 1 else 1, -1, self.features).reshape(x.shape)",
            )
        ],
        check="test_empty",
    ),
    Wrong(
        "a new tensor, without a graph, for no rows",
        edits=[(EXACT, "if not x.numel():\n            return torch.empty_like(x)\n        " + EXACT)],
        check="test_empty",
        says="no gradient flows",
    ),
    Wrong("does not look at the features", edits=[(SHAPE, "if x.dim() == 0:")], check="test_bad_input"),
    Wrong(
        "lets one feature broadcast",
        edits=[(SHAPE, "if x.dim() == 0 or x.shape[-1] not in (1, self.features):")],
        check="test_bad_input",
    ),
    Wrong(
        "asserts",
        edits=[(SHAPE, "assert x.dim() and x.shape[-1] == self.features\n        if x.dim() == 0:")],
        check="test_bad_input",
        says="AssertionError",
    ),
    Wrong(
        "PyTorch's own",
        edits=[
            (
                RETURN,
                "return nn.functional.rms_norm(exact, (self.features,), self.weight.to(exact.dtype), self.eps).to(x.dtype)",
            )
        ],
        check="test_own_computation",
        says="rules out",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                SCALE,
                SCALE
                + "\n        rows = exact.reshape(-1, self.features)\n        if rows.numel():\n            scale = torch.stack([(r.square().mean() + self.eps).rsqrt() for r in rows]).view(*x.shape[:-1], 1)",
            )
        ],
        check="test_own_computation",
        says="grows",
    ),
    Right(
        "promoted types, a norm, a division",
        code="""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        nn.Module.__init__(self)
        self.weight = nn.Parameter(torch.empty(features))
        nn.init.ones_(self.weight)
        self.eps = eps

    def forward(self, x):
        if x.shape[-1:] != self.weight.shape:
            raise ValueError("features")
        wide = torch.promote_types(x.dtype, torch.float32)
        h = x.to(wide)
        norm = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
        rms = torch.sqrt(norm * norm / h.size(-1) + self.eps)
        return (h / rms * self.weight.to(wide)).type_as(x)
""",
    ),
    Right(
        "through einsum, the weight first",
        edits=[
            (
                SCALE,
                'scale = (torch.einsum("...i,...i->...", exact, exact) / self.features + self.eps).pow(-0.5).unsqueeze(-1)',
            ),
            (RETURN, "return (self.weight.to(exact.dtype) * exact).mul(scale).type(x.dtype)"),
        ],
    ),
    Wrong(
        "bounds the mean of the squares, for float64 too",
        edits=[(SCALE, SCALE.replace("keepdim=True)", "keepdim=True).clamp(max=1e30)"))],
        check="test_large_and_small",
        says="float64 rows",
    ),
    Wrong(
        "keeps the widened weight as long as its version is the same",
        edits=[
            (
                RETURN,
                """key = (exact.dtype, exact.device, self.weight._version, torch.is_grad_enabled())
        if torch.is_grad_enabled() or getattr(self, "key", None) != key:
            self.key, self.kept = key, self.weight.to(exact.dtype)
        return (exact * scale * self.kept).to(x.dtype)""",
            )
        ],
        check="test_in_use",
        says="the weights now 3",
    ),
    Wrong(
        "in evaluation it keeps the widened weight of the first call",
        edits=[
            (WEIGHT, WEIGHT + "\n        self._wide = {}"),
            (
                RETURN,
                "weight = self.weight.to(exact.dtype)\n"
                "        if not self.training:\n"
                "            kept = weight if torch.is_grad_enabled() else weight.detach()\n"
                "            weight = self._wide.setdefault((exact.dtype, x.device), kept)\n"
                "        return (exact * scale * weight).to(x.dtype)",
            ),
        ],
        check="test_in_use",
        says="in evaluation",
    ),
]
