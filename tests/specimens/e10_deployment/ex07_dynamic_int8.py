"""Answers to dynamic_int8 that people write."""

from grader.authoring.specimen import Right, Wrong

WEIGHT = '        self.register_buffer("weight", torch.zeros(out_features, in_features, dtype=torch.int8))\n'
SCALE = '        self.register_buffer("scale", torch.ones(out_features, dtype=torch.float32))\n'
BIAS = (
    '        self.register_buffer("bias", torch.zeros(out_features, dtype=torch.float32) if bias else None)\n'
)
WIDE = "        wide = linear.weight.detach().float()  # (out, in)\n"
FINITE = """        if not wide.isfinite().all():
            raise ValueError("the weight holds NaN or inf")
"""
ABSMAX = "        scale = wide.abs().amax(1) / 127 if wide.numel() else wide.new_zeros(len(wide))  # (out,)\n"
ZEROS = "        scale = scale.masked_fill(scale == 0, 1.0)\n"
MADE = "        layer = cls(linear.in_features, linear.out_features, linear.bias is not None)\n"
STEPS = "        layer.weight = (wide / scale.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)\n"
KEPT = "        layer.scale = scale\n"
COPY = "            layer.bias = linear.bias.detach().clone()\n"
MODE = "        return layer.train(linear.training)\n"
WIDEN = "        wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)  # (out, in), for this call only\n"
CAST = "        bias = None if self.bias is None else self.bias.to(x.dtype)\n"
PRODUCT = "        return nn.functional.linear(x, wide, bias)\n"
NAMES = "    modules = dict(model.named_modules(remove_duplicate=False))\n"
UNKNOWN = """    if unknown := set(skip) - modules.keys():
        raise ValueError(f"no layers of the model: {', '.join(sorted(unknown))}")
"""
WHICH = "        if type(module) is not nn.Linear or id(module) in kept:\n"
ONCE = "        if id(module) not in made:\n"
NAMED = "                raise ValueError(f\"{name or 'the model'}: {error}\") from None\n"
ROOT = """        if not name:
            return layer
"""
PUT = "        setattr(modules[parent], last, layer)\n"
PLACES = "        places.append((name, made[id(module)]))\n"
BELOW = "    kept = {id(module) for name in skip for module in modules[name].modules()}\n"


SPECIMENS = [
    Wrong(
        "keeps the wide weight in evaluation mode",
        edits=[
            (
                "        wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)  # (out, in), for this call only\n",
                "        wide = self.__dict__.get('wide')\n        if wide is None or wide.dtype != x.dtype or self.training:\n            wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)\n            self.wide = None if self.training else wide\n",
            )
        ],
        check="test_nothing_wide_is_held",
        says="evaluation mode",
    ),
    Wrong(
        "replaces a model that is an nn.Linear, whatever skip says",
        edits=[
            (
                "    modules = dict(model",
                "    if type(model) is nn.Linear:\n        return Int8Linear.from_linear(model)\n    modules = dict(model",
            )
        ],
        check="test_the_model_itself",
        says="skip",
    ),
    Wrong(
        "another name for bias",
        edits=[
            ("out_features: int, bias: bool = True)", "out_features: int, with_bias: bool = True)"),
            ("dtype=torch.float32) if bias else None", "dtype=torch.float32) if with_bias else None"),
        ],
        check="test_buffers",
        says="signature",
    ),
    Wrong(
        "a scale in the dtype of a float64 weight",
        edits=[
            (WIDE, WIDE.replace(".float()", ".to(torch.promote_types(linear.weight.dtype, torch.float32))"))
        ],
        check="test_halves",
        says="float64",
    ),
    Wrong(
        "takes a large sum for infinity",
        edits=[("if not wide.isfinite().all():", "if not wide.sum().isfinite():")],
        check="test_not_finite",
    ),
    Wrong(
        "one scale for all rows",
        edits=[(ABSMAX, "        scale = (wide.abs().max() / 127).expand(len(wide)).clone()\n")],
        check="test_rows",
    ),
    Wrong(
        "a scale for each column",
        edits=[(ABSMAX, ABSMAX.replace("amax(1)", "amax(0).max().expand(len(wide))"))],
        check="test_error_bound",
    ),
    Wrong(
        "the largest value, not the largest size",
        edits=[(ABSMAX, ABSMAX.replace("wide.abs().amax(1)", "wide.amax(1).abs()"))],
        check="test_error_bound",
    ),
    Wrong("divides by 128", edits=[(ABSMAX, ABSMAX.replace("127", "128"))], check="test_error_bound"),
    Wrong(
        "scales of 1 / scale",
        edits=[
            (KEPT, "        layer.scale = 1 / scale\n"),
            (WIDEN, WIDEN.replace("* self.scale", "/ self.scale")),
        ],
        check="test_error_bound",
    ),
    Wrong("rows of zeros are NaN", edits=[(ZEROS, "")], check="test_rows"),
    Wrong(
        "an eps in each scale", edits=[(ZEROS, "        scale = scale + 1e-8\n")], check="test_error_bound"
    ),
    Wrong(
        "a smallest scale",
        edits=[(ZEROS, "        scale = scale.clamp(min=1e-5)\n")],
        check="test_error_bound",
    ),
    Wrong("cuts off", edits=[(STEPS, STEPS.replace(".round()", ""))], check="test_error_bound"),
    Wrong(
        "halves up",
        edits=[
            (
                STEPS,
                STEPS.replace(
                    "(wide / scale.unsqueeze(1)).round()", "(wide / scale.unsqueeze(1) + 0.5).floor()"
                ),
            )
        ],
        check="test_halves_to_even",
    ),
    Wrong("seven bits", edits=[(ABSMAX, ABSMAX.replace("127", "63"))], check="test_error_bound"),
    Wrong(
        "forgets the scale",
        edits=[(WIDEN, "        wide = self.weight.to(x.dtype)\n")],
        check="test_error_bound",
    ),
    Wrong("forgets the bias", edits=[(PRODUCT, PRODUCT.replace(", bias", ""))], check="test_error_bound"),
    Wrong(
        "adds the bias before it scales",
        edits=[
            (WIDEN, "        wide = self.weight.to(x.dtype)\n"),
            (PRODUCT, "        return nn.functional.linear(x, wide, bias) * self.scale.to(x.dtype)\n"),
        ],
        check="test_error_bound",
    ),
    Wrong(
        "a bias where there was none",
        edits=[(MADE, MADE.replace("linear.bias is not None", "True"))],
        check="test_error_bound",
    ),
    Wrong(
        "quantizes the bias, too",
        edits=[
            (
                COPY,
                COPY
                + "            step = layer.bias.abs().max() / 127\n            layer.bias = (layer.bias / step).round() * step\n",
            )
        ],
        check="test_error_bound",
    ),
    Wrong(
        "sums integers in the dtype of x",
        edits=[
            (WIDEN, "        wide = self.weight.to(x.dtype)\n"),
            (
                PRODUCT,
                "        y = nn.functional.linear(x, wide) * self.scale.to(x.dtype)\n        return y if bias is None else y + bias\n",
            ),
        ],
        check="test_halves",
    ),
    Wrong(
        "sums integers in the dtype of x, and scales in float32",
        edits=[
            (WIDEN, "        wide = self.weight.to(x.dtype)\n"),
            (
                PRODUCT,
                "        y = nn.functional.linear(x, wide).float() * self.scale\n        return (y if bias is None else y + bias).to(x.dtype)\n",
            ),
        ],
        check="test_halves",
    ),
    Wrong(
        "scales in the dtype of x",
        edits=[(WIDEN, "        wide = self.weight.to(x.dtype) * self.scale.to(x.dtype).unsqueeze(1)\n")],
        check="test_halves",
    ),
    Wrong(
        "float32 results",
        edits=[
            (WIDEN, WIDEN.replace(".to(x.dtype)", "")),
            (CAST, CAST.replace("x.dtype", "torch.float32")),
            (PRODUCT, PRODUCT.replace("linear(x,", "linear(x.float(),")),
        ],
        check="test_halves",
        says="float32",
    ),
    Wrong(
        "results in the dtype of the linear layer",
        edits=[
            (WIDEN, WIDEN.replace("x.dtype", "torch.float32")),
            (
                PRODUCT,
                "        y = nn.functional.linear(x.float(), wide, None if bias is None else bias.float())\n        return y if self.bias is None else y.to(self.bias.dtype)\n",
            ),
        ],
        check="test_halves",
    ),
    Wrong("the bias in its own dtype", edits=[(CAST, "        bias = self.bias\n")], check="test_halves"),
    Wrong(
        "the bias in float32",
        edits=[(COPY, COPY.replace(".clone()", ".float().clone()"))],
        check="test_halves",
    ),
    Wrong(
        "bfloat16 in between",
        edits=[(WIDEN, WIDEN.replace("self.scale.unsqueeze(1))", "self.scale.unsqueeze(1)).bfloat16()"))],
        check="test_error_bound",
    ),
    Wrong(
        "quantizes in the dtype of the layer",
        edits=[
            (WIDE, WIDE.replace(".float()", "")),
            (KEPT, "        layer.scale = scale.float()\n"),
        ],
        check="test_halves",
    ),
    Wrong(
        "quantizes x as well",
        edits=[
            (
                WIDEN,
                WIDEN
                + "        step = x.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 127\n        x = (x / step).round() * step\n",
            )
        ],
        check="test_error_bound",
    ),
    Wrong(
        "two dimensions only",
        edits=[
            (
                PRODUCT,
                "        y = x.view(-1, self.in_features) @ wide.mT\n        return (y if bias is None else y + bias).view(*x.shape[:-1], self.out_features)\n",
            )
        ],
        check="test_layouts_and_empty_batches",
    ),
    Wrong(
        "works in the memory of x",
        edits=[(WIDEN, WIDEN + "        x.data.mul_(1.0000002)\n")],
        check="test_layouts_and_empty_batches",
        says="changes",
    ),
    Wrong(
        "no gradient to x",
        edits=[("    def forward(", "    @torch.no_grad()\n    def forward(")],
        check="test_gradients",
    ),
    Wrong(
        "a straight-through gradient of ones",
        edits=[(PRODUCT, "        return nn.functional.linear(x.detach(), wide, bias) + 0 * x.sum()\n")],
        check="test_gradients",
    ),
    Wrong(
        "the bias is a parameter",
        edits=[
            (BIAS, "        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None\n"),
            (COPY, "            layer.bias = nn.Parameter(linear.bias.detach().clone())\n"),
        ],
        check="test_buffers",
    ),
    Wrong(
        "the scale is a parameter",
        edits=[
            (SCALE, "        self.scale = nn.Parameter(torch.ones(out_features))\n"),
            (KEPT, "        layer.scale = nn.Parameter(scale)\n"),
        ],
        check="test_buffers",
    ),
    Wrong(
        "the scale is not saved",
        edits=[(SCALE, SCALE.replace("32))", "32), persistent=False)"))],
        check="test_buffers",
    ),
    Wrong(
        "the scale is a column",
        edits=[
            (SCALE, SCALE.replace("(out_features,", "(out_features, 1,")),
            (KEPT, "        layer.scale = scale.unsqueeze(1)\n"),
            (WIDEN, WIDEN.replace(".unsqueeze(1)", "")),
        ],
        check="test_error_bound",
    ),
    Wrong(
        "the weight is a plain attribute",
        edits=[(WEIGHT, "        self.weight = torch.zeros(out_features, in_features, dtype=torch.int8)\n")],
        check="test_buffers",
    ),
    Wrong("always a bias", edits=[(BIAS, BIAS.replace(" if bias else None", ""))], check="test_buffers"),
    Wrong(
        "empty layers of random numbers",
        edits=[
            (
                WEIGHT,
                WEIGHT.replace(
                    "torch.zeros(out_features, in_features,",
                    "torch.randint(-127, 127, (out_features, in_features),",
                ),
            )
        ],
        check="test_buffers",
    ),
    Wrong(
        "no bias by default",
        edits=[("bias: bool = True) -> None", "bias: bool = False) -> None")],
        check="test_buffers",
    ),
    Wrong(
        "integers in float32",
        edits=[
            (STEPS, STEPS.replace(".to(torch.int8)", "")),
            (WEIGHT, WEIGHT.replace(", dtype=torch.int8", "")),
        ],
        check="test_error_bound",
        says="float32",
    ),
    Wrong(
        "integers in int16",
        edits=[(STEPS, STEPS.replace("int8", "int16")), (WEIGHT, WEIGHT.replace("int8", "int16"))],
        check="test_error_bound",
        says="int16",
    ),
    Wrong(
        "a wide weight that is saved, too",
        edits=[(MODE, "        layer.register_buffer('wide', wide)\n" + MODE)],
        check="test_saved_and_loaded",
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
        "keeps the linear layer",
        edits=[(MODE, "        layer.__dict__['original'] = linear\n" + MODE)],
        check="test_nothing_wide_is_held",
    ),
    Wrong(
        "keeps the wide weight",
        edits=[(MODE, "        layer.__dict__['wide'] = wide.clone()\n" + MODE)],
        check="test_nothing_wide_is_held",
    ),
    Wrong(
        "shares the bias", edits=[(COPY, COPY.replace(".clone()", ""))], check="test_the_linear_is_left_alone"
    ),
    Wrong(
        "quantizes the linear layer in place",
        edits=[(STEPS, STEPS + "        linear.weight.data = layer.weight * scale.unsqueeze(1)\n")],
        check="test_the_linear_is_left_alone",
    ),
    Wrong(
        "absolute values in place",
        edits=[(ABSMAX, "        scale = wide.abs_().amax(1) / 127\n")],
        check="test_the_linear_is_left_alone",
    ),
    Wrong(
        "a layer in evaluation mode",
        edits=[(MODE, "        return layer.eval()\n")],
        check="test_the_linear_is_left_alone",
    ),
    Wrong("a layer in training mode", edits=[(MODE, "        return layer\n")], check="test_modes"),
    Wrong("the model in evaluation mode", edits=[(NAMES, "    model.eval()\n" + NAMES)], check="test_modes"),
    Wrong(
        "subclasses, too",
        edits=[(WHICH, WHICH.replace("type(module) is not nn.Linear", "not isinstance(module, nn.Linear)"))],
        check="test_which_layers",
    ),
    Wrong(
        "children only",
        edits=[(NAMES, "    modules = {'': model, **dict(model.named_children())}\n"), (UNKNOWN, "")],
        check="test_which_layers",
    ),
    Wrong(
        "a layer that occurs twice is replaced once",
        edits=[("named_modules(remove_duplicate=False)", "named_modules()")],
        check="test_which_layers",
    ),
    Wrong(
        "a layer that occurs twice is two layers",
        edits=[(ONCE, "        if True:\n")],
        check="test_which_layers",
        says="two layers",
    ),
    Wrong(
        "ignores skip",
        edits=[(WHICH, "        if type(module) is not nn.Linear:\n")],
        check="test_which_layers",
    ),
    Wrong(
        "skips the named layers only, not those below",
        edits=[(BELOW, "    kept = {id(modules[name]) for name in skip}\n")],
        check="test_which_layers",
    ),
    Wrong(
        "skips what begins alike",
        edits=[
            (BELOW, "    kept = {id(modules[name]) for name in modules if name.startswith(tuple(skip))}\n")
        ],
        check="test_which_layers",
    ),
    Wrong(
        "skips by the last part of the name",
        edits=[
            (
                BELOW,
                "    kept = {id(m) for name, m in modules.items() if set(skip) & {name, *name.split('.')}}\n",
            ),
            (
                UNKNOWN,
                "    parts = {part for name in modules for part in name.split('.')}\n    if set(skip) - modules.keys() - parts:\n        raise ValueError('unknown')\n",
            ),
        ],
        check="test_unknown_names",
    ),
    Wrong(
        "a layer that occurs twice stays where skip names it",
        edits=[
            (
                BELOW,
                "    kept = {n for n in modules for s in skip if not s or n == s or n.startswith(f'{s}.')}\n",
            ),
            (WHICH, WHICH.replace("id(module) in kept", "name in kept")),
        ],
        check="test_which_layers",
    ),
    Wrong(
        "skips what is called so further down",
        edits=[
            (
                BELOW,
                BELOW
                + "    kept |= {id(m) for name, m in modules.items() if name.rpartition('.')[2] in skip}\n",
            )
        ],
        check="test_which_layers",
    ),
    Wrong(
        "drops a bias of zeros",
        edits=[
            (
                MADE,
                MADE.replace(
                    "linear.bias is not None)", "linear.bias is not None and bool(linear.bias.any()))"
                ),
            ),
            (COPY, "            layer.bias = linear.bias.detach().clone() if linear.bias.any() else None\n"),
        ],
        check="test_buffers",
    ),
    Wrong(
        "a copy of the model",
        edits=[(NAMES, "    import copy\n\n    model = copy.deepcopy(model)\n" + NAMES)],
        check="test_which_layers",
    ),
    Wrong("returns nothing", edits=[(PUT + "    return model\n", PUT)], check="test_which_layers"),
    Wrong(
        "a linear layer comes back as it is",
        edits=[(ROOT, "        if not name:\n            return model\n")],
        check="test_the_model_itself",
    ),
    Wrong(
        "replaces layers of int8 again",
        edits=[
            (
                WHICH,
                WHICH.replace(
                    "type(module) is not nn.Linear",
                    "not hasattr(module, 'out_features') or type(module) not in (nn.Linear, Int8Linear)",
                ),
            ),
            (WIDE, "        wide = linear.weight.detach().float()\n        linear_bias = linear.bias\n"),
        ],
        check="test_the_model_itself",
    ),
    Wrong("takes NaN", edits=[(FINITE, "")], check="test_not_finite"),
    Wrong(
        "looks for NaN only",
        edits=[(FINITE, FINITE.replace("not wide.isfinite().all()", "wide.isnan().any()"))],
        check="test_not_finite",
    ),
    Wrong("does not name the layer", edits=[(NAMED, "                raise\n")], check="test_not_finite"),
    Wrong(
        "replaces on the way to an error",
        edits=[
            (
                PLACES,
                PLACES
                + "        if name:\n            setattr(modules[name.rpartition('.')[0]], name.rpartition('.')[2], made[id(module)])\n",
            )
        ],
        check="test_not_finite",
    ),
    Wrong("any name in skip", edits=[(UNKNOWN, "")], check="test_unknown_names"),
    Wrong(
        "looks at skip afterwards",
        edits=[
            (UNKNOWN, ""),
            (PUT, PUT + "    if set(skip) - modules.keys():\n        raise ValueError('unknown')\n"),
        ],
        check="test_unknown_names",
    ),
    Wrong(
        "a KeyError", edits=[(UNKNOWN, UNKNOWN.replace("ValueError", "KeyError"))], check="test_unknown_names"
    ),
    Wrong(
        "the scale stays on the CPU",
        edits=[(KEPT, "        layer.scale = scale.cpu()\n")],
        check="test_on_a_device",
    ),
    Wrong(
        "quantizes on the CPU",
        edits=[(WIDE, WIDE.replace(".detach()", ".detach().cpu()"))],
        check="test_on_a_device",
    ),
    Wrong(
        "computes on the CPU",
        edits=[
            (
                PRODUCT,
                "        return nn.functional.linear(x.cpu(), wide.cpu(), None if bias is None else bias.cpu()).to(x.device)\n",
            )
        ],
        check="test_on_a_device",
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

    def collect(module, path):
        if module in kept:
            return
        if type(module) is nn.Linear:
            try:
                found.setdefault(module, Int8Linear.from_linear(module))
            except ValueError:
                raise ValueError(f"{path} is not finite")
        for name, child in module._modules.items():
            if child is not None:
                collect(child, f"{path}.{name}" if path else name)

    def replace(module):
        for name, child in list(module._modules.items()):
            if child is None or child in kept:
                continue
            if child in found:
                module._modules[name] = found[child]
            else:
                replace(child)

    collect(model, "")
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
    Wrong(
        "named_children, which gives a layer once for each parent",
        edits=[
            (
                """    for name, layer in places:
        if not name:
            return layer
        parent, _, last = name.rpartition(".")
        setattr(modules[parent], last, layer)
""",
                """    if id(model) in made:
        return made[id(model)]
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if id(child) in made:
                setattr(module, name, made[id(child)])
""",
            )
        ],
        check="test_which_layers",
        says="does not replace all",
    ),
    Wrong(
        "refuses a bias that is not finite as well",
        edits=[
            (
                FINITE,
                FINITE.replace(
                    "if not wide.isfinite().all()",
                    "if not all(p.isfinite().all() for p in linear.parameters())",
                ),
            )
        ],
        check="test_not_finite",
        says="ValueError",
    ),
    Wrong(
        "looks for what is below a skipped name in a layer's first name only",
        edits=[
            (
                BELOW,
                """    kept = {id(modules[name]) for name in skip}
    for name, module in model.named_modules():
        if any(name.startswith(f"{each}.") for each in skip):
            kept.add(id(module))
""",
            )
        ],
        check="test_which_layers",
        says="replaces layers that are to stay",
    ),
    Wrong(
        "takes half precision for inference, which needs no gradient",
        edits=[
            (
                PRODUCT,
                "        with torch.set_grad_enabled(torch.is_grad_enabled() and x.dtype == torch.float32):\n"
                "            return nn.functional.linear(x, wide, bias)\n",
            )
        ],
        check="test_gradients",
        says="in torch.bfloat16",
    ),
    Wrong(
        "skips what is below a name, but not what is below the empty one, the model's",
        edits=[
            (
                BELOW,
                "    below = {n for n in modules for s in skip if n == s or n.startswith(f'{s}.')}\n"
                "    kept = {id(modules[n]) for n in below}\n",
            )
        ],
        check="test_which_layers",
        says="skip=['']",
    ),
    Wrong(
        "keeps the wide weight of a call with gradients, and uses it ever after",
        edits=[
            (
                WIDEN,
                WIDEN.replace(
                    "wide = ",
                    "wide = self.__dict__.get('wide')\n        if wide is None:\n            wide = ",
                )
                + "            if x.requires_grad:\n                self.__dict__['wide'] = wide\n",
            )
        ],
        check="test_saved_and_loaded",
        says="after its scale was changed",
    ),
]
