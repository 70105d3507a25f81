"""Answers to linear_layer that people write."""

from grader.authoring.specimen import Right, Wrong

BOUND = "bound = 1 / math.sqrt(in_features)"
WEIGHT = """        weight = torch.empty(out_features, in_features, device=device, dtype=dtype).uniform_(-bound, bound)
        self.weight = nn.Parameter(weight)  # (out_features, in_features)
"""
BIAS = """            self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype))
            nn.init.uniform_(self.bias, -bound, bound)
"""
PRODUCT = "y = x @ self.weight.T  # (*batch, out_features)"
SUM = "return y if self.bias is None else y + self.bias"
END = f"        {PRODUCT}\n        {SUM}"


def start(weight, bias="torch.empty(out_features, device=device, dtype=dtype).uniform_(-bound, bound)"):
    """The solution, with other beginnings of weight and bias."""
    return [
        (WEIGHT, f"        self.weight = nn.Parameter({weight})\n"),
        (BIAS, f"            self.bias = nn.Parameter({bias})\n"),
    ]


UNIFORM = "torch.empty(out_features, in_features, device=device, dtype=dtype).uniform_(-bound, bound)"

SPECIMENS = [
    Wrong(
        "rounds the root of in_features down",
        edits=[(BOUND, "bound = 1 / math.isqrt(in_features)")],
        check="test_start",
        says="outside of ±1/√in_features",
    ),
    Wrong(
        "plain tensors that require gradients",
        edits=[
            (WEIGHT, f"        self.weight = {UNIFORM}.requires_grad_()\n"),
            (
                BIAS,
                "            self.bias = torch.empty(out_features, device=device, dtype=dtype)"
                ".uniform_(-bound, bound).requires_grad_()\n",
            ),
        ],
        check="test_what_is_registered",
        says="lacks",
    ),
    Wrong(
        "buffers in place of parameters",
        edits=[(WEIGHT, f"        self.register_buffer('weight', {UNIFORM})\n")],
        check="test_what_is_registered",
        says="weight",
    ),
    Wrong(
        "casts the parameter afterwards, which makes it a plain tensor",
        edits=[
            (
                WEIGHT,
                "        weight = nn.Parameter(torch.rand(out_features, in_features, device=device))\n"
                "        self.weight = ((2 * weight - 1) * bound).to(dtype or torch.get_default_dtype())\n",
            )
        ],
        check="test_what_is_registered",
    ),
    Wrong(
        "a weight of (in, out)",
        edits=[
            (
                WEIGHT,
                "        self.weight = nn.Parameter("
                + UNIFORM.replace("out_features, in_features", "in_features, out_features")
                + ")\n",
            ),
            (PRODUCT, "y = x @ self.weight"),
        ],
        check="test_what_is_registered",
        says="weight (4, 3)",
    ),
    Wrong(
        "a bias of (1, out)",
        edits=start(
            UNIFORM, "torch.empty(1, out_features, device=device, dtype=dtype).uniform_(-bound, bound)"
        ),
        check="test_what_is_registered",
        says="(1, 3)",
    ),
    Wrong(
        "a bias whether wanted or not",
        edits=[("if bias:", "if True:")],
        check="test_what_is_registered",
        says="bias",
    ),
    Wrong(
        "no attribute bias where there is none",
        edits=[
            ("        self.bias = None\n", ""),
            (SUM, "return y + self.bias if hasattr(self, 'bias') else y"),
        ],
        check="test_what_is_registered",
    ),
    Wrong(
        "a bias of zeros that does not train, in place of none",
        edits=[
            (
                "        self.bias = None\n",
                "        self.register_buffer('bias', torch.zeros(out_features))\n",
            ),
            ("        if bias:\n", "        if bias:\n            del self.bias\n"),
        ],
        check="test_what_is_registered",
    ),
    Wrong(
        "forgets to add the bias",
        edits=[(SUM, "return y")],
        check="test_any_leading_dimensions",
        says="the bias is not added",
    ),
    Wrong(
        "two dimensions only",
        edits=[(END, "        y = torch.mm(x, self.weight.t())\n        " + SUM)],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "an einsum over one batch dimension",
        edits=[(PRODUCT, "y = torch.einsum('bi,oi->bo', x, self.weight)")],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "flattens with view, which strided input refuses",
        edits=[
            (
                PRODUCT,
                "y = (x.view(-1, x.shape[-1]) @ self.weight.T).view(*x.shape[:-1], -1) if x.numel() else "
                "x.new_zeros(*x.shape[:-1], self.weight.shape[0])",
            )
        ],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "a view with -1, which an empty batch does not determine",
        edits=[(PRODUCT, "y = (x.reshape(-1, x.shape[-1]) @ self.weight.T).reshape(*x.shape[:-1], -1)")],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "squeezes a batch of one",
        edits=[(END, "        y = x @ self.weight.T\n        y = y.squeeze()\n        " + SUM)],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "makes a single row a batch of one in place",
        edits=[(PRODUCT, "y = (x.unsqueeze_(0) @ self.weight.T)[0] if x.dim() == 1 else x @ self.weight.T")],
        check="test_any_leading_dimensions",
        says="changes its input x",
    ),
    Wrong(
        "reads the weight through .data",
        edits=[("x @ self.weight.T", "x @ self.weight.data.T")],
        check="test_values_and_gradients",
        says="no gradient for weight",
    ),
    Wrong(
        "detaches x",
        edits=[("x @ self.weight.T", "x.detach() @ self.weight.T")],
        check="test_values_and_gradients",
    ),
    Wrong(
        "detaches the bias",
        edits=[(SUM, "return y if self.bias is None else y + self.bias.detach()")],
        check="test_training",
        says="bias",
    ),
    Wrong(
        "no graph in evaluation mode",
        edits=[(PRODUCT, "x = x if self.training else x.detach()\n        " + PRODUCT)],
        check="test_values_and_gradients",
        says="no gradient",
    ),
    Wrong(
        "transposes once, in __init__",
        edits=[
            (WEIGHT, WEIGHT + "        self._transposed = self.weight.detach().T\n"),
            ("x @ self.weight.T", "x @ (self._transposed + (self.weight - self.weight.detach()).T)"),
        ],
        check="test_replaced_parameters",
    ),
    Wrong(
        "keeps the parameters in a list, and uses that",
        edits=[
            (
                "            nn.init.uniform_(self.bias, -bound, bound)\n",
                "            nn.init.uniform_(self.bias, -bound, bound)\n        self._all = [self.weight, self.bias]\n",
            ),
            (PRODUCT, "weight, bias = self._all\n        y = x @ weight.T"),
            (SUM, "return y if bias is None else y + bias"),
        ],
        check="test_replaced_parameters",
    ),
    Wrong(
        "remembers whether it was made with a bias",
        edits=[
            (BOUND, "self.has_bias = bias\n        " + BOUND),
            (SUM, "return y + self.bias if self.has_bias and self.bias is not None else y"),
        ],
        check="test_replaced_parameters",
        says="after it got one",
    ),
    Wrong(
        "takes for granted that the bias stays",
        edits=[
            (BOUND, "self.has_bias = bias\n        " + BOUND),
            (SUM, "return y if not self.has_bias and self.bias is None else y + self.bias"),
        ],
        check="test_replaced_parameters",
    ),
    Wrong(
        "starts with a normal distribution",
        edits=start("torch.randn(out_features, in_features, device=device, dtype=dtype) * bound"),
        check="test_start",
        says="outside",
    ),
    Wrong(
        "bounds by the outputs",
        edits=[(BOUND, "bound = 1 / math.sqrt(out_features)")],
        check="test_start",
        says="uniformly",
    ),
    Wrong(
        "bounds without the root",
        edits=[(BOUND, "bound = 1 / in_features")],
        check="test_start",
        says="uniformly",
    ),
    Wrong(
        "positive only",
        edits=start("torch.rand(out_features, in_features, device=device, dtype=dtype) * bound"),
        check="test_start",
        says="uniformly",
    ),
    Wrong(
        "a bias of zeros",
        edits=start(UNIFORM, "torch.zeros(out_features, device=device, dtype=dtype)"),
        check="test_start",
        says="bias",
    ),
    Wrong(
        "the same row for every output",
        edits=start(
            "torch.empty(in_features, device=device, dtype=dtype).uniform_(-bound, bound).repeat(out_features, 1)"
        ),
        check="test_start",
        says="repeats",
    ),
    Wrong(
        "seeds in __init__: all layers are alike",
        edits=[(BOUND, "torch.manual_seed(0)\n        " + BOUND)],
        check="test_start",
        says="the same in two layers",
    ),
    Wrong(
        "draws from a stream of its own",
        edits=[
            (BOUND, BOUND + "\n        gen = torch.Generator()\n        gen.seed()"),
            (
                WEIGHT,
                WEIGHT
                + "        if device is None:\n            weight.detach().uniform_(-bound, bound, generator=gen)\n",
            ),
        ],
        check="test_start",
        says="after the same seed",
    ),
    Wrong(
        "made on the CPU and moved",
        edits=start(
            "torch.empty(out_features, in_features, dtype=dtype).uniform_(-bound, bound).to(device)",
        ),
        check="test_device_and_dtype",
        says="copies",
    ),
    Wrong(
        "ignores the device",
        edits=start(
            UNIFORM.replace("device=device, ", ""),
            "torch.empty(out_features, dtype=dtype).uniform_(-bound, bound)",
        ),
        check="test_device_and_dtype",
    ),
    Wrong(
        "on the CPU unless told otherwise",
        edits=[("        bound =", "        device = device or 'cpu'\n        bound =")],
        check="test_device_and_dtype",
        says='under "meta"',
    ),
    Wrong(
        "ignores the dtype",
        edits=start(UNIFORM.replace(", dtype=dtype", "")),
        check="test_device_and_dtype",
        says="float64",
    ),
    Wrong(
        "float32 unless told otherwise",
        edits=[("        bound =", "        dtype = dtype or torch.float32\n        bound =")],
        check="test_device_and_dtype",
        says="float64",
    ),
    Wrong(
        "computes in float32",
        edits=[(PRODUCT, "y = x.float() @ self.weight.T.float()")],
        check="test_moves_and_casts",
        says="float32",
    ),
    Wrong(
        "remembers the dtype of the day it was made",
        edits=[
            (BOUND, "self.dtype = dtype or torch.get_default_dtype()\n        " + BOUND),
            (PRODUCT, "x = x.to(self.dtype)\n        y = x @ self.weight.T"),
        ],
        check="test_moves_and_casts",
    ),
    Wrong(
        "computes on the CPU",
        edits=[(PRODUCT, "y = (x.cpu() @ self.weight.T.cpu()).to(x.device)")],
        check="test_moves_and_casts",
        says="copies",
    ),
    Wrong(
        "a loop over the outputs",
        edits=[(PRODUCT, "y = torch.stack([x @ row for row in self.weight], dim=-1)")],
        check="test_cost",
        says="loop",
    ),
    Wrong(
        "a loop over the rows",
        edits=[
            (
                PRODUCT,
                "rows = x.reshape(x.shape[:-1].numel(), x.shape[-1])\n        "
                "y = torch.stack([self.weight @ row for row in rows]) if len(rows) else x.new_zeros(0)\n        "
                "y = y.reshape(*x.shape[:-1], self.weight.shape[0])",
            )
        ],
        check="test_cost",
        says="loop",
    ),
    Wrong(
        "multiplies, then sums: memory for every product",
        edits=[(PRODUCT, "y = (x.unsqueeze(-2) * self.weight).sum(-1)")],
        check="test_cost",
        says="every single product",
    ),
    Wrong(
        "F.linear does the work",
        edits=[(END, "        return nn.functional.linear(x, self.weight, self.bias)")],
        check="test_own_computation",
        says="linear",
    ),
    Wrong(
        "nn.Linear under another name",
        edits=[
            ("class Linear(nn.Module):", "class Linear(nn.Linear):"),
            ("super().__init__()", "nn.Module.__init__(self)"),
        ],
        check="test_own_computation",
        says="nn.Linear",
    ),
    Wrong(
        "drawn in the default dtype, and cast",
        edits=[
            (
                "device=device, dtype=dtype).uniform_(-bound, bound)\n",
                "device=device).uniform_(-bound, bound).to(dtype or torch.get_default_dtype())\n",
            )
        ],
        check="test_device_and_dtype",
    ),
    Wrong(
        "all products of a single row at once",
        edits=[("x @ self.weight.T", "(x @ self.weight.T if x.dim() > 1 else (x * self.weight).sum(-1))")],
        check="test_cost",
    ),
    Wrong(
        "a loop over the first of several leading dimensions",
        edits=[
            (
                "x @ self.weight.T",
                "(x @ self.weight.T if x.dim() < 3 or not len(x) else torch.stack([m @ self.weight.T for m in x]))",
            )
        ],
        check="test_cost",
    ),
    Right(
        "einsum; the bias registered as None",
        code="""
import torch
from torch import nn

class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.in_features, self.out_features = in_features, out_features
        self.weight = nn.Parameter(torch.empty((out_features, in_features), **options))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = self.in_features ** -0.5
        for p in self.parameters():
            nn.init.uniform_(p, -bound, bound)

    def forward(self, x):
        y = torch.einsum("...i,oi->...o", x, self.weight)
        if self.bias is not None:
            y = y + self.bias
        return y
""",
    ),
    Right(
        "rand, scaled; addmm on flattened rows",
        code="""
import torch
from torch import nn

class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.shape = (out_features, in_features)
        self.weight = self._draw(out_features, in_features, device=device, dtype=dtype)
        self.bias = self._draw(out_features, device=device, dtype=dtype) if bias else None

    def _draw(self, *sizes, **options):
        return nn.Parameter((torch.rand(*sizes, **options) * 2 - 1) / self.shape[1] ** 0.5)

    def forward(self, x):
        rows = x.reshape(x.shape[:-1].numel(), self.shape[1])
        if self.bias is None:
            y = rows.mm(self.weight.t())
        else:
            y = torch.addmm(self.bias, rows, self.weight.t())
        return y.reshape(x.shape[:-1] + self.shape[:1])
""",
    ),
    Right(
        "the product the other way round, the bias in place",
        edits=[
            (
                END,
                "        y = torch.matmul(self.weight, x.unsqueeze(-1)).squeeze(-1)\n        if self.bias is not None:\n            y += self.bias\n        return y",
            ),
        ],
    ),
    Right("tensordot", edits=[(PRODUCT, "y = torch.tensordot(x, self.weight, dims=([-1], [1]))")]),
    Wrong(
        "the linear function by its name in torch.ops",
        edits=[(END, "        return torch.ops.aten.linear.default(x, self.weight, self.bias)")],
        check="test_own_computation",
        says="linear",
    ),
    Wrong(
        "one output feature by a matrix-vector product, of which the size of no rows is to be guessed",
        edits=[
            (
                PRODUCT,
                "y = x @ self.weight.T if len(self.weight) > 1 else (x @ self.weight[0]).reshape(*x.shape[:-1], -1)",
            )
        ],
        check="test_any_leading_dimensions",
        says="reshape",
    ),
    Wrong(
        "guesses the size of the last leading dimension, which it cannot beside one of 0",
        edits=[
            (
                PRODUCT,
                "y = x.reshape(-1, x.shape[-1]) @ self.weight.T\n"
                "        y = y.reshape(*x.shape[:-2], -1, y.shape[1]) if x.dim() > 1 else y[0]",
            )
        ],
        check="test_any_leading_dimensions",
    ),
    Wrong(
        "makes the bias in the default dtype, and casts it",
        edits=[
            (
                BIAS,
                BIAS.replace("device=device, dtype=dtype", "device=device").replace(
                    "self.bias, -bound, bound)",
                    "self.bias, -bound, bound)\n            self.bias.data = self.bias.data.to(self.weight)",
                ),
            )
        ],
        check="test_device_and_dtype",
        says="bias",
    ),
    Wrong(
        "loops over the first of more than three dimensions",
        edits=[
            (
                PRODUCT,
                "y = torch.stack([part @ self.weight.T for part in x]) if x.dim() > 3 else x @ self.weight.T",
            )
        ],
        check="test_cost",
        says="three leading dimensions",
    ),
    Wrong(
        "cuts the gradient of a frozen layer",
        edits=[
            (PRODUCT, "y = x @ self.weight.T if self.weight.requires_grad else (x @ self.weight.T).detach()")
        ],
        check="test_gradients_of_frozen_layers_and_empty_batches",
        says="no gradient reaches x",
    ),
    Wrong(
        "makes up the result of an empty batch",
        edits=[
            (
                PRODUCT,
                "if x.numel() == 0:\n            return x.new_zeros(*x.shape[:-1], len(self.weight))\n        "
                + PRODUCT,
            )
        ],
        check="test_gradients_of_frozen_layers_and_empty_batches",
        says="carries no graph",
    ),
]
