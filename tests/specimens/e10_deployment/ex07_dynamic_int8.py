"""Answers to dynamic_int8 that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WEIGHT = '        self.register_buffer("weight", torch.zeros(out_features, in_features, dtype=torch.int8))\n'
SCALE = '        self.register_buffer("scale", torch.ones(out_features, dtype=torch.float32))\n'
FINITE = """        if not wide.isfinite().all():
            raise ValueError("the weight holds NaN or inf")
"""
ABSMAX = "        scale = wide.abs().amax(1) / 127 if wide.numel() else wide.new_zeros(len(wide))  # (out,)\n"
ZEROS = "        scale = scale.masked_fill(scale == 0, 1.0)\n"
STEPS = "        layer.weight = (wide / scale.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)\n"
KEPT = "        layer.scale = scale\n"
WIDEN = "        wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)  # (out, in), for this call only\n"
PRODUCT = "        return nn.functional.linear(x, wide, bias)\n"
NAMES = "    modules = dict(model.named_modules(remove_duplicate=False))\n"
UNKNOWN = """    if unknown := set(skip) - modules.keys():
        raise ValueError(f"no layers of the model: {', '.join(sorted(unknown))}")
"""
WHICH = "        if type(module) is not nn.Linear or id(module) in kept:\n"
PUT = "        setattr(modules[parent], last, layer)\n"


SPECIMENS = [
    Wrong(
        "one scale for all rows",
        edits=[(ABSMAX, "        scale = (wide.abs().max() / 127).expand(len(wide)).clone()\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "the largest value, not the largest size",
        edits=[(ABSMAX, ABSMAX.replace("wide.abs().amax(1)", "wide.amax(1).abs()"))],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "divides by 128",
        edits=[(ABSMAX, ABSMAX.replace("127", "128"))],
        check="test_worked_example",
        rung="job",
    ),
    Wrong("cuts off", edits=[(STEPS, STEPS.replace(".round()", ""))], check="test_weights", rung="job"),
    Wrong(
        "forgets the scale",
        edits=[(WIDEN, "        wide = self.weight.to(x.dtype)\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "forgets the bias", edits=[(PRODUCT, PRODUCT.replace(", bias", ""))], check="test_results", rung="job"
    ),
    Wrong(
        "the scale is a parameter",
        edits=[
            (SCALE, "        self.scale = nn.Parameter(torch.ones(out_features))\n"),
            (KEPT, "        layer.scale = nn.Parameter(scale)\n"),
        ],
        check="test_buffers",
        rung="job",
    ),
    Wrong(
        "the scale is not saved",
        edits=[(SCALE, SCALE.replace("32))", "32), persistent=False)"))],
        check="test_buffers",
        rung="job",
    ),
    Wrong(
        "integers in float32",
        edits=[
            (STEPS, STEPS.replace(".to(torch.int8)", "")),
            (WEIGHT, WEIGHT.replace(", dtype=torch.int8", "")),
        ],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "children only",
        edits=[(NAMES, "    modules = {'': model, **dict(model.named_children())}\n"), (UNKNOWN, "")],
        check="test_replaces",
        rung="job",
    ),
    Wrong(
        "ignores skip",
        edits=[(WHICH, "        if type(module) is not nn.Linear:\n")],
        check="test_replaces",
        rung="job",
    ),
    Wrong("returns nothing", edits=[(PUT + "    return model\n", PUT)], check="test_replaces", rung="job"),
    Wrong("rows of zeros are NaN", edits=[(ZEROS, "")], check="test_rows_and_shapes"),
    Wrong(
        "scales in the dtype of x",
        edits=[(WIDEN, "        wide = self.weight.to(x.dtype) * self.scale.to(x.dtype).unsqueeze(1)\n")],
        check="test_halves",
    ),
    Wrong(
        "keeps the widened weight for the next call",
        edits=[
            (
                WIDEN,
                "        if getattr(self, '_wide', None) is None or self._wide.dtype != x.dtype:\n            self._wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)\n        wide = self._wide\n",
            )
        ],
        check="test_nothing_wide_is_held",
    ),
    Wrong(
        "the scale stays on the CPU",
        edits=[(KEPT, "        layer.scale = scale.cpu()\n")],
        check="test_modes_and_devices",
    ),
    Wrong(
        "subclasses, too",
        edits=[(WHICH, WHICH.replace("type(module) is not nn.Linear", "not isinstance(module, nn.Linear)"))],
        check="test_which_layers",
    ),
    Wrong("takes NaN", edits=[(FINITE, "")], check="test_refused"),
    Works(
        "gpt-fast's: the integers times x, then the scale",
        code="""
import torch
from torch import nn
from torch.nn import functional as F


class Int8Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.register_buffer("weight", torch.empty((out_features, in_features), dtype=torch.int8))
        self.register_buffer("scale", torch.ones(out_features))
        self.register_buffer("bias", torch.zeros(out_features) if bias else None)

    @classmethod
    def from_linear(cls, linear):
        layer = cls(linear.in_features, linear.out_features, linear.bias is not None)
        weight = linear.weight.data
        scale = weight.abs().amax(dim=1).clamp(min=1e-8) / 127
        layer.weight = torch.round(weight / scale[:, None]).to(torch.int8)
        layer.scale = scale
        if linear.bias is not None:
            layer.bias = linear.bias.data.clone()
        return layer

    def forward(self, input):
        y = F.linear(input, self.weight.to(dtype=input.dtype)) * self.scale
        return y if self.bias is None else y + self.bias


def quantize_linears(module, skip=(), prefix=""):
    for name, child in module.named_children():
        path = prefix + name
        if path in skip:
            continue
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear.from_linear(child))
        else:
            quantize_linears(child, skip, path + ".")
    return module
""",
    ),
    Works(
        "names first, then set_submodule",
        code="""
import torch
from torch import nn


class Int8Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.register_buffer("weight", torch.zeros(out_features, in_features).to(torch.int8))
        self.register_buffer("scale", torch.ones(out_features))
        if bias:
            self.register_buffer("bias", torch.zeros(out_features))
        else:
            self.bias = None

    @staticmethod
    @torch.no_grad()
    def from_linear(linear):
        layer = Int8Linear(linear.in_features, linear.out_features, bias=linear.bias is not None)
        scale = linear.weight.abs().max(dim=1).values / 127.0
        layer.scale.copy_(scale)
        layer.weight.copy_((linear.weight / scale.unsqueeze(1)).round())
        if layer.bias is not None:
            layer.bias.copy_(linear.bias)
        return layer

    def forward(self, x):
        return nn.functional.linear(x, self.weight * self.scale.unsqueeze(1), self.bias)


def quantize_linears(model, skip=()):
    names = [n for n, m in model.named_modules() if isinstance(m, nn.Linear) and n not in skip]
    for name in names:
        model.set_submodule(name, Int8Linear.from_linear(model.get_submodule(name)))
    return model
""",
    ),
    Right(
        "computes in float32 on the scaled integers, recursion over children",
        code="""
import torch
from torch import nn


class Int8Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = nn.Buffer(torch.zeros((out_features, in_features), dtype=torch.int8))
        self.scale = nn.Buffer(torch.ones(out_features, dtype=torch.float32))
        self.bias = nn.Buffer(torch.zeros(out_features, dtype=torch.float32)) if bias else None

    @staticmethod
    def from_linear(linear):
        with torch.no_grad():
            exact = linear.weight.double()
            if torch.isnan(exact).any() or torch.isinf(exact).any():
                raise ValueError("not finite")
            largest = exact.abs().max(dim=1, keepdim=True).values
            scale = torch.where(largest > 0, largest / 127, torch.ones_like(largest)).float()
            layer = Int8Linear(linear.in_features, linear.out_features, linear.bias is not None)
            layer.weight = torch.round(exact / scale).clamp_(-127, 127).char()
            layer.scale = scale[:, 0].clone()
            if linear.bias is not None:
                layer.bias = torch.empty_like(linear.bias, requires_grad=False).copy_(linear.bias)
            layer.training = linear.training
        return layer

    def forward(self, x):
        y = torch.einsum("...i,oi->...o", x.float(), self.weight.float()) * self.scale
        if self.bias is not None:
            y = y + self.bias.float()
        return y.to(x.dtype)


def quantize_linears(model, skip=()):
    known = dict(model.named_modules(remove_duplicate=False))
    kept = set()
    for name in skip:
        if name not in known:
            raise ValueError(f"{name} is unknown")
        kept.update(known[name].modules())
    found = {}

    def collect(module):
        if module in kept:
            return
        if type(module) is nn.Linear:
            found.setdefault(module, Int8Linear.from_linear(module))
        for child in module.children():
            collect(child)

    def replace(module):
        for name, child in list(module._modules.items()):
            if child is None or child in kept:
                continue
            if child in found:
                module._modules[name] = found[child]
            else:
                replace(child)

    collect(model)
    replace(model)
    return found.get(model, model)
""",
    ),
    Right(
        "multiplies by the reciprocal, and loops over rows",
        edits=[
            (
                STEPS,
                "        layer.weight = torch.stack([(row * (1 / s)).round().clamp(-127, 127) for row, s in zip(wide.double(), scale.double())]).to(torch.int8)\n",
            ),
            (PRODUCT, "        y = x @ wide.mT\n        return y if bias is None else y + bias\n"),
        ],
    ),
]
