"""Answers to linear_layer that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WEIGHT = """        weight = torch.empty(out_features, in_features, device=device, dtype=dtype).uniform_(-bound, bound)
        self.weight = nn.Parameter(weight)  # (out_features, in_features)
"""
BIAS = """            self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype))
            nn.init.uniform_(self.bias, -bound, bound)
"""
PRODUCT = "y = x @ self.weight.T  # (*batch, out_features)"
SUM = "return y if self.bias is None else y + self.bias"
END = f"        {PRODUCT}\n        {SUM}"

SPECIMENS = [
    Wrong(
        "plain tensors that require gradients",
        edits=[
            ("nn.Parameter(weight)", "weight.requires_grad_()"),
            (BIAS, "            self.bias = torch.zeros(out_features, requires_grad=True)\n"),
        ],
        check="test_parameters",
        says="lacks",
        rung="job",
    ),
    Wrong(
        "a weight of (in, out)",
        edits=[
            ("(out_features, in_features, device", "(in_features, out_features, device"),
            (PRODUCT, "y = x @ self.weight"),
        ],
        check="test_parameters",
        says="weight",
        rung="job",
    ),
    Wrong(
        "the product without the transpose",
        edits=[(PRODUCT, "y = x @ self.weight")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "the bias is always there", edits=[("if bias:", "if True:")], check="test_without_a_bias", rung="job"
    ),
    Wrong(
        "forgets to add the bias",
        edits=[(SUM, "return y")],
        check="test_values",
        says="the bias is not added",
        rung="job",
    ),
    Wrong(
        "two dimensions only",
        edits=[(PRODUCT, "y = torch.einsum('bi,oi->bo', x, self.weight)")],
        check="test_values",
        rung="job",
    ),
    Wrong(
        "reads the weight through .data",
        edits=[(PRODUCT, "y = x @ self.weight.data.T")],
        check="test_gradients",
        rung="job",
    ),
    Wrong(
        "transposes once, in __init__",
        edits=[
            (WEIGHT, WEIGHT + "        self.turned = weight.T.clone()\n"),
            (PRODUCT, "y = x @ self.turned + 0 * (x @ self.weight.T)"),
        ],
        check="test_trains_and_loads",
        rung="job",
    ),
    Wrong(
        "zeros to start with",
        edits=[(".uniform_(-bound, bound)", ".zero_()")],
        check="test_starts_at_random",
        says="start alike",
        rung="job",
    ),
    Wrong(
        "seeds in __init__: all layers are alike",
        edits=[("        bound = 1", "        torch.manual_seed(0)\n        bound = 1")],
        check="test_starts_at_random",
        says="two layers",
        rung="job",
    ),
    Wrong(
        "a loop over the outputs",
        edits=[(PRODUCT, "y = torch.stack([(x * row).sum(-1) for row in self.weight], dim=-1)")],
        check="test_no_loop",
        says="out_features",
        rung="job",
    ),
    Wrong(
        "F.linear does the work",
        edits=[(END, "        return nn.functional.linear(x, self.weight, self.bias)")],
        check="test_own_computation",
        says="linear",
        rung="job",
    ),
    Wrong(
        "a bias of zeros",
        edits=[("nn.init.uniform_(self.bias, -bound, bound)", "nn.init.zeros_(self.bias)")],
        check="test_uniform_start",
        says="bias",
    ),
    Wrong(
        "draws with NumPy, which torch.manual_seed does not reach",
        edits=[
            ("import torch\n", "import numpy as np\nimport torch\n"),
            (
                "torch.empty(out_features, in_features, device=device, dtype=dtype).uniform_(-bound, bound)",
                "torch.tensor(np.random.uniform(-bound, bound, (out_features, in_features)), device=device)"
                ".to(dtype or torch.get_default_dtype())",
            ),
        ],
        check="test_global_stream",
    ),
    Wrong(
        "casts the parameter afterwards, which makes it a plain tensor",
        edits=[
            (
                WEIGHT,
                "        weight = torch.empty(out_features, in_features).uniform_(-bound, bound)\n"
                "        self.weight = nn.Parameter(weight)\n"
                "        if device or dtype:\n"
                "            self.weight = self.weight.to(device, dtype)\n",
            )
        ],
        check="test_device_and_dtype",
    ),
    Wrong(
        "no attribute bias where there is none",
        edits=[
            ("        self.bias = None\n", ""),
            (SUM, "return y + self.bias if hasattr(self, 'bias') else y"),
        ],
        check="test_attribute_without_a_bias",
        says="no attribute",
    ),
    Wrong(
        "flattens to rows with -1, which an empty batch does not determine",
        edits=[(PRODUCT, "y = (x.reshape(-1, x.shape[-1]) @ self.weight.T).reshape(*x.shape[:-1], -1)")],
        check="test_empty",
    ),
    Wrong(
        "computes in float32",
        edits=[(PRODUCT, "y = x.float() @ self.weight.T.float()")],
        check="test_casts",
    ),
    Works(
        "as an introductory text writes it: small normal weights, a bias of zeros",
        code="""
import torch
from torch import nn

class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features) * 0.01)
        self.use_bias = bias
        if bias:
            self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x):
        y = x @ self.weight.T
        if self.use_bias:
            y = y + self.bias
        return y
""",
    ),
    Works(
        "Xavier's start, torch.matmul",
        code="""
import torch
from torch import nn

class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.bias = nn.Parameter(torch.randn(out_features)) if bias else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x):
        out = torch.matmul(x, self.weight.t())
        if self.bias is not None:
            out += self.bias
        return out
""",
    ),
    Right(
        "as nn.Linear is written: reset_parameters with kaiming_uniform_",
        code="""
import math
import torch
from torch import nn
from torch.nn import init

class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        factory_kwargs = {"device": device, "dtype": dtype}
        super().__init__()
        self.in_features = in_features
        self.weight = nn.Parameter(torch.empty((out_features, in_features), **factory_kwargs))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features, **factory_kwargs))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features)
            init.uniform_(self.bias, -bound, bound)

    def forward(self, x):
        y = torch.matmul(x, self.weight.mT)
        return y + self.bias if self.bias is not None else y
""",
    ),
    Right(
        "rand, scaled; einsum",
        code="""
import torch
from torch import nn

class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        k = in_features ** -0.5
        self.bias = nn.Parameter((2 * torch.rand(out_features, device=device, dtype=dtype) - 1) * k) if bias else None
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features, device=device, dtype=dtype) - 1) * k)

    def forward(self, x):
        y = torch.einsum("...i,oi->...o", x, self.weight)
        return y if self.bias is None else y + self.bias
""",
    ),
]
